import { readFileSync } from 'node:fs';
import type { SigningKey, TokenKey } from '../../../../shared/tokens/token-key';
import { KeyError, signingKeyOf, verificationKeysOf } from '../../../../shared/tokens/token-key';

/** The keys of service account tokens. */
export interface AccountTokenKeys {
  readonly signing: SigningKey;
  /** Distinct keys, including the signing key, so that a server accepts its own tokens. */
  readonly verifying: readonly TokenKey[];
}

export interface AccountTokenKeyFiles {
  readonly signingKeyFile: string;
  /** Files of private or public keys; a file may hold several. */
  readonly keyFiles: readonly string[];
}

/** Reads the key files once. Throws an error that names a file which cannot be read or holds no usable key. */
export function readAccountTokenKeys({ signingKeyFile, keyFiles }: AccountTokenKeyFiles): AccountTokenKeys {
  const signing = ofFile(signingKeyFile, signingKeyOf);
  const { privateKey: _secret, ...own } = signing;
  const all: readonly TokenKey[] = [own, ...keyFiles.flatMap((file) => ofFile(file, verificationKeysOf))];
  return { signing, verifying: [...new Map(all.map((key) => [key.keyId, key])).values()] };
}

function ofFile<Keys>(file: string, read: (pem: string) => Keys): Keys {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file}: the key file cannot be read`, { cause: error });
  }
  try {
    return read(pem);
  } catch (error) {
    if (error instanceof KeyError) throw new Error(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}
