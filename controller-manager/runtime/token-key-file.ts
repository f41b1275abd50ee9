import { readFileSync } from 'node:fs';
import type { SigningKey } from '../../shared/tokens/token-key';
import { signingKeyOf } from '../../shared/tokens/token-key';

/** Thrown when the file of `--service-account-private-key-file` cannot be used. */
export class TokenKeyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TokenKeyError';
  }
}

/** Returns the key that signs tokens; undefined without a file. Throws TokenKeyError. */
export function readTokenKey(path: string): SigningKey | undefined {
  if (path === '') return undefined;
  try {
    return signingKeyOf(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new TokenKeyError(`--service-account-private-key-file ${path}: ${(error as Error).message}`, error);
  }
}
