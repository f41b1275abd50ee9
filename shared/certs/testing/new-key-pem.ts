import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync } from 'node:crypto';

export interface KeyPem {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** A new pair of keys on a curve (`P-256`), or an RSA or Ed25519 one, in the forms that are usual today: PKCS #8 and SPKI. */
export function newKeyPem(kind: 'rsa' | 'ed25519' | `P-${number}` | 'secp256k1' = 'P-256'): KeyPem {
  const { privateKey, publicKey } = newPair(kind);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function newPair(kind: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2_048 });
  if (kind === 'ed25519') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('ec', { namedCurve: kind });
}
