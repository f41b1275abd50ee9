import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { Etcd3 } from 'etcd3';
import { hostNameProblem } from '../../../shared/certs/x509/alternative-names';
import { certificateOf } from '../../../shared/certs/x509/certificate';

/** The private parts of etcd3 1.1 and grpc-js 1.14 that have no option. */
interface Internals {
  readonly pool: {
    readonly hosts: readonly {
      readonly host: string;
      readonly channelCredentials: { verifyOptions?: { checkServerIdentity?: unknown } };
      channelOptions?: Readonly<Record<string, unknown>>;
    }[];
  };
}

/**
 * Lets a client connect over TLS to members that are named by IP address. grpc-js always sends a server name, and Node 26 refuses an address
 * as one (RFC 6066 forbids it). A made-up name is sent instead, and the certificate is still verified for the address. Certificates are
 * compared with names and addresses by the rules of Go, so that a common name does not count.
 */
export function allowAddresses(client: Etcd3): void {
  const { hosts } = (client as unknown as Internals).pool;
  const addresses = new Map<string, string>();
  for (const host of hosts) {
    const { verifyOptions } = host.channelCredentials;
    if (verifyOptions !== undefined) {
      verifyOptions.checkServerIdentity = (sent: string, { raw }: PeerCertificate) => {
        const certificate = certificateOf(new X509Certificate(raw));
        const problem = hostNameProblem(certificate, addresses.get(sent) ?? sent);
        return problem === undefined ? undefined : new Error(`x509: ${problem}`);
      };
    }
    const address = host.host.replace(/:\d+$/u, '').replaceAll(/^\[|\]$/gu, '');
    if (isIP(address) === 0) continue;
    const name = `address-${String(addresses.size)}.invalid`;
    addresses.set(name, address);
    host.channelOptions = { ...host.channelOptions, 'grpc.ssl_target_name_override': name };
  }
}
