import { constants, generateKeyPairSync } from 'node:crypto';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { TLSSocket } from 'node:tls';
import * as der from '../../../shared/certs/der';
import {
  EXTENSION,
  extension,
  KEY_USAGE_BIT,
  signedCertificate,
} from '../../../shared/certs/signed-certificate';
import { certificatesOfPem } from '../../../shared/certs/x509/certificate';
import { sentChain } from '../../../shared/certs/x509/sent-chain';
import type { PeerCertificates } from '../request/exchange';

/** The authorities of client certificates. */
export interface ClientAuthorities {
  /** All authorities as PEM; the TLS handshake sends their names to clients. */
  readonly pem: () => string;
  /** Calls back after every change. */
  readonly onChange: (listener: () => void) => void;
}

const peers = new WeakMap<Socket, { readonly peer: PeerCertificates | undefined }>();

/**
 * Returns the certificate chain of a client: its own certificate, and those it sent along in their order. Undefined
 * without a certificate. The handshake proves possession of the key only; the authenticator
 * decides whether to trust the chain. Returns the same array for all requests of a connection; Node gives the
 * certificates that were sent along only once.
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
  const chain = sentChain(socket);
  return chain.length === 0 ? undefined : chain;
}

/**
 * Reads the certificates of every new connection before any other listener. Certificates of one name that a client sent
 * along leave an error in OpenSSL's queue as described at `namesOnly`. Reading them clears the queue, which must happen
 * while the handshake reports its end.
 */
export function readPeerCertificates(https: Server): void {
  https.prependListener('secureConnection', peerCertificates);
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
 * Builds the TLS options that send the names of the client authorities. Sessions are not resumed: a resumed session has
 * lost the certificates that the client sent along. Renegotiation is off, so a client keeps its identity for the whole
 * connection.
 */
export function clientAuthorityContext({ pem }: ClientAuthorities): SecureContextOptions {
  return {
    ca: namesOnly(pem()),
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/**
 * Returns PEM certificates that have the names of the authorities and may sign nothing. With the authorities themselves
 * OpenSSL would verify the client's certificate with the first one of the issuer's name. If that fails although another
 * one has issued it, the error stays in OpenSSL's queue, and the next read of the connection fails with it.
 */
function namesOnly(pem: string): string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const publicKeyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const extensions = [
    extension(EXTENSION.keyUsage, der.namedBits([KEY_USAGE_BIT.digitalSignature]), 'critical'),
  ];
  const validity = { fromMs: 0, untilMs: 0 };
  return certificatesOfPem(pem)
    .map(({ subject }) =>
      signedCertificate({
        subject,
        issuer: subject,
        publicKeyInfo,
        validity,
        extensions,
        signingKey: privateKey,
      }),
    )
    .join('');
}
