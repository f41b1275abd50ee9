import type { X509Certificate } from 'node:crypto';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { TLSSocket } from 'node:tls';
import type { PeerCertificates } from '../request/exchange';

/** What a client may show to be known by its certificate. */
export interface ClientAuthorities {
  /** All authorities that certificates may come from, as PEM: clients are told their names. */
  readonly pem: () => string;
  /** Calls back after every change. */
  readonly onChange: (listener: () => void) => void;
}

const CHAIN_MAX = 32;
const peers = new WeakMap<Socket, { readonly peer: PeerCertificates | undefined }>();

/**
 * What the client showed when it connected: its own certificate, and behind it those that it sent along, as far as each has issued
 * the one before. Undefined when it showed none, or was not asked. It proved that it has the key, and nothing else: whether the
 * certificate is to be trusted is for others to say. The same array is given for a connection each time.
 */
export function peerCertificates(socket: Socket): PeerCertificates | undefined {
  const known = peers.get(socket);
  if (known !== undefined) return known.peer;
  const peer = read(socket);
  peers.set(socket, { peer });
  return peer;
}

function read(socket: Socket): PeerCertificates | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const chain: X509Certificate[] = [];
  let next = socket.getPeerX509Certificate();
  while (next !== undefined && chain.length < CHAIN_MAX) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain.length === 0 ? undefined : chain;
}

/**
 * Asks clients for a certificate, and lets them in without one or with any: that becomes an answer of 401 with a reason, and not a
 * connection that breaks off.
 */
export const CLIENT_CERTIFICATE_OPTIONS = {
  requestCert: true,
  rejectUnauthorized: false,
} as const satisfies TlsOptions;

/**
 * The trusted authorities are these and no others. Sessions are not resumed: a resumed one has lost the certificates that the client sent
 * along, and remembers what was thought of its own under authorities of another day. Nor can a client become another one within a
 * connection.
 */
export function clientAuthorityContext({ pem }: ClientAuthorities): SecureContextOptions {
  return { ca: pem(), secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION };
}
