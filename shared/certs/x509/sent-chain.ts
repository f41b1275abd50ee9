import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { Slices } from '../../concurrency/slices';
import type { Certificate } from './certificate';
import { certificateOf } from './certificate';

/** The maximum of certificates that are read from a connection. */
const CHAIN_MAX = 32;
/** The maximum of certificates that are parsed: that of the peer and its intermediates. */
const PARSED_MAX = 17;
/** The maximum size of all certificates of a peer; Go limits handshake messages to it. */
const CHAIN_BYTES_MAX = 65_536;

/**
 * Returns the certificates that the peer sent, its own first; empty if there is none. The handshake proves possession of the key only. Call
 * it once for a connection: Node gives the certificates after the first only once.
 */
export function sentChain(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && chain.length < CHAIN_MAX) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

/** Parses the certificates of a peer, or returns why they are malformed. Yields to the event loop in between. */
export async function parseChain(
  chain: readonly X509Certificate[],
): Promise<readonly Certificate[] | string> {
  const shown = chain.slice(0, PARSED_MAX);
  const bytes = shown.reduce((sum, { raw }) => sum + raw.length, 0);
  if (bytes > CHAIN_BYTES_MAX) return `the certificates are longer than ${String(CHAIN_BYTES_MAX)} bytes`;
  const slices = new Slices();
  const read: Certificate[] = [];
  for (const x509 of shown) {
    if (slices.due()) await slices.pause();
    try {
      read.push(certificateOf(x509));
    } catch (error) {
      return `the certificate is malformed: ${String(error)}`;
    }
  }
  return read;
}
