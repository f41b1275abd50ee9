import type { HttpVersion } from './http-version';
import { Http2Transport } from './http2-transport';
import type { Transport } from './transport';
import { Http1Transport } from './transport';

/** The way to one server in one version of HTTP. */
export function openTransport(http: HttpVersion, server: string, ca: Buffer): Transport {
  return http === '2' ? new Http2Transport(server, ca) : new Http1Transport(server, ca);
}
