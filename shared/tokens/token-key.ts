import { createHash, createPrivateKey, createPublicKey, KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { createLocalJWKSet } from 'jose/jwks/local';
import { ownKeyMap } from '../own-key-map';

/** The ways to sign tokens that are known here, as their headers call them. */
export const TOKEN_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** A public key that tokens are verified with. */
export interface TokenKey {
  /** The key id in the header of a token: for own keys the digest of the public key, so that every holder uses the same one. */
  readonly keyId: string;
  readonly algorithm: TokenAlgorithm;
  readonly publicKey: KeyObject;
}

/** A key that tokens are signed with. */
export interface SigningKey extends TokenKey {
  readonly privateKey: KeyObject;
}

/** A key that cannot be used; the message says what is wrong and never holds a part of the key. */
export class KeyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KeyError';
  }
}

/** The first private key of a PEM text. Throws KeyError when there is none, or it is of a kind that signs no tokens. */
export function signingKeyOf(pem: string): SigningKey {
  const block = blocksOf(pem).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (block === undefined) throw new KeyError('there is no private key in PEM form');
  const privateKey = parse(() => createPrivateKey(block.text));
  return { ...tokenKeyOf(createPublicKey(privateKey)), privateKey };
}

/**
 * Every key of a PEM text that tokens can be verified with: public keys, those of private keys, and those of certificates. Blocks of
 * other kinds (parameters, chains of other things) are passed over. Throws KeyError when no block is left, or a key cannot be used.
 */
export function verificationKeysOf(pem: string): readonly TokenKey[] {
  const blocks = blocksOf(pem).filter(({ label }) => /(?:PUBLIC KEY|PRIVATE KEY|^CERTIFICATE)$/.test(label));
  if (blocks.length === 0) throw new KeyError('there is no public or private key in PEM form');
  return blocks.map(({ text }) => tokenKeyOf(parse(() => createPublicKey(text))));
}

/**
 * Parses a published JSON Web Key (RFC 7517), once for each algorithm it allows. Empty for a key that is not for signatures, private, too
 * short, or of an unsupported kind.
 */
export async function tokenKeysOfJwk(
  jwk: Readonly<Record<string, unknown>>,
  algorithms: readonly TokenAlgorithm[],
): Promise<readonly TokenKey[]> {
  const { kid, kty, use, alg } = jwk;
  // The library treats a value that is no text as absent.
  const isPlain = [use, alg].every((each) => each === undefined || typeof each === 'string');
  if (typeof kty !== 'string' || !isPlain) return [];
  const keyId = typeof kid === 'string' ? kid : '';
  const found = await Promise.all(
    algorithms.map(async (algorithm) => {
      const publicKey = await publicKeyOf({ ...jwk, kty }, algorithm);
      return publicKey === undefined ? [] : [{ keyId, algorithm, publicKey }];
    }),
  );
  return found.flat();
}

/** Undefined where the key is not for the algorithm. */
async function publicKeyOf(jwk: JWK, algorithm: TokenAlgorithm): Promise<KeyObject | undefined> {
  try {
    const key = await createLocalJWKSet({ keys: [jwk] })({ alg: algorithm });
    return key instanceof KeyObject && isLongEnough(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function tokenKeyOf(publicKey: KeyObject): TokenKey {
  return { keyId: keyIdOf(publicKey), algorithm: algorithmOf(publicKey), publicKey };
}

function keyIdOf(publicKey: KeyObject): string {
  const info = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(info).digest('base64url');
}

/** The algorithm of own keys, by curve. */
const ALGORITHM_OF_CURVE = ownKeyMap<TokenAlgorithm>({
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
});

function algorithmOf(publicKey: KeyObject): TokenAlgorithm {
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  if (asymmetricKeyType === 'rsa') {
    if (isLongEnough(publicKey)) return 'RS256';
    throw new KeyError(`tokens need an RSA key of at least ${String(RSA_BITS_MIN)} bits`);
  }
  const curve = asymmetricKeyType === 'ec' ? (asymmetricKeyDetails?.namedCurve ?? '') : '';
  const known = ALGORITHM_OF_CURVE.get(curve);
  if (known !== undefined) return known;
  const what = curve === '' ? (asymmetricKeyType ?? 'unknown') : curve;
  throw new KeyError(`tokens need an RSA key or an elliptic one on P-256, P-384 or P-521, not ${what}`);
}

/** Of RFC 7518; the library rejects shorter keys. */
const RSA_BITS_MIN = 2_048;

function isLongEnough({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) >= RSA_BITS_MIN;
}

interface PemBlock {
  readonly label: string;
  readonly text: string;
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

function blocksOf(pem: string): readonly PemBlock[] {
  return [...pem.matchAll(PEM_BLOCK)].map(([text, label = '']) => ({ label, text }));
}

function parse(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (error) {
    throw new KeyError('a key cannot be parsed', error);
  }
}
