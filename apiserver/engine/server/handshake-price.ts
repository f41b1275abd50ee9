import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { peerCertificates } from './peer-certificates';

/**
 * Computes the cost of a handshake beyond an ordinary one, in handshakes: OpenSSL verifies a signature for each
 * certificate that the client sends, whatever its key, before the server can decide.
 */
export function priceOf(socket: TLSSocket, bytesRead: number): number {
  if (bytesRead <= PLAIN_BYTES_MAX) return 0;
  // The client's own certificate is verified with the key of an authority, which the operator chose.
  const [, ...sent] = peerCertificates(socket) ?? [];
  return sent.reduce((price, certificate) => price + priceOfKey(certificate), 0);
}

/** Estimates the cost of a failed handshake from the bytes received. */
export function priceOfFailure(bytesRead: number): number {
  return Math.max(0, bytesRead - PLAIN_BYTES_MAX) / BYTES_OF_COST;
}

/** Bytes of a handshake with at most one client certificate. */
const PLAIN_BYTES_MAX = 2_048;
/** The most expensive certificate takes 2.7 ms for 450 bytes. */
const BYTES_OF_COST = 150;

/**
 * Measured: a handshake takes about 1 ms. Verifying RSA takes less, P-521 up to 4 ms, curves that Go does not support
 * up to 10 ms.
 */
const PRICES: ReadonlyMap<string, number> = new Map([
  ['prime256v1', 1],
  ['secp384r1', 2],
]);
const PRICE_OF_OTHERS = 10;

function priceOfKey({ publicKey }: X509Certificate): number {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  if (type === 'ed25519') return 1;
  if (type === 'rsa') return (details?.modulusLength ?? Infinity) <= RSA_BITS_MAX ? 1 : PRICE_OF_OTHERS;
  return PRICES.get(details?.namedCurve ?? '') ?? PRICE_OF_OTHERS;
}

const RSA_BITS_MAX = 4_096;
