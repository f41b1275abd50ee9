import type { X509Certificate } from 'node:crypto';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { TLSSocket } from 'node:tls';
import type { PeerCertificates } from '../request/exchange';

/** The authorities of client certificates. */
export interface ClientAuthorities {
  /** All authorities as PEM; the TLS handshake sends their names to clients. */
  readonly pem: () => string;
  /** Calls back after every change. */
  readonly onChange: (listener: () => void) => void;
}

const CHAIN_MAX = 32;
const peers = new WeakMap<Socket, { readonly peer: PeerCertificates | undefined }>();

/**
 * Returns the certificate chain of a client: its own certificate, and those it sent along as far as each issued the
 * one before. Undefined without a certificate. The handshake proves possession of the key only; the authenticator
 * decides whether to trust the chain. Returns the same array for all requests of a connection.
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
 * Requests a client certificate but accepts every client: a missing or invalid one becomes a 401 with a reason
 * instead of a broken connection.
 */
export const CLIENT_CERTIFICATE_OPTIONS = {
  requestCert: true,
  rejectUnauthorized: false,
} as const satisfies TlsOptions;

/**
 * Builds the TLS options for client authorities, the only ones that are trusted. Sessions are not resumed: a resumed
 * session has lost the certificates that the client sent along, and keeps a result of verification under earlier
 * authorities. Renegotiation is off, so a client keeps its identity for the whole connection.
 */
export function clientAuthorityContext({ pem }: ClientAuthorities): SecureContextOptions {
  return { ca: pem(), secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION };
}
