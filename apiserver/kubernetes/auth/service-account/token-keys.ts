import { readFileSync } from 'node:fs';
import type { SigningKey, TokenKey } from '../../../../shared/tokens/token-key';
import { KeyError, signingKeyOf, verificationKeysOf } from '../../../../shared/tokens/token-key';

/** The keys of the tokens of service accounts. */
export interface AccountTokenKeys {
  readonly signing: SigningKey;
  /** Each key once; the one that signs is among them, so that a server takes the tokens it gives. */
  readonly verifying: readonly TokenKey[];
}

export interface AccountTokenKeyFiles {
  readonly signingKeyFile: string;
  /** Private or public keys, several in one file if need be. */
  readonly keyFiles: readonly string[];
}

/** Reads the key files once. Throws an error that names the file when one cannot be read or holds no key that could be used. */
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
