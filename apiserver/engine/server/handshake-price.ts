import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/**
 * What a handshake has cost beyond an ordinary one, in handshakes: OpenSSL verifies a signature for each certificate that the client sends along,
 * whatever its key, before anybody is asked.
 */
export function priceOf(socket: TLSSocket, bytesRead: number): number {
  if (bytesRead <= PLAIN_BYTES_MAX) return 0;
  let price = 0;
  // The client's own certificate is verified by an authority's key, and those are the operator's choice.
  let certificate: X509Certificate | undefined = socket.getPeerX509Certificate()?.issuerCertificate;
  for (; certificate !== undefined; certificate = certificate.issuerCertificate)
    price += priceOfKey(certificate);
  return price;
}

/** The same where the handshake has failed, and nobody can tell what was sent. */
export function priceOfFailure(bytesRead: number): number {
  return Math.max(0, bytesRead - PLAIN_BYTES_MAX) / BYTES_OF_COST;
}

/** A handshake without certificates, or with one. */
const PLAIN_BYTES_MAX = 2_048;
/** The worst takes 2.7 ms for 450 bytes. */
const BYTES_OF_COST = 150;

/** Measured: a handshake takes about 1 ms. RSA is verified in less, with P-521 in up to 4, with curves that Go does not know in up to 10. */
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
