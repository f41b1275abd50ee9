import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../files/make-directory';

const FILE_NAME = 'service-account.key';
const DIRECTORY_MODE = 0o700;
const PRIVATE_MODE = 0o600;

/**
 * Returns the file of the key that signs service account tokens below `dir`; creates it (ECDSA P-256, PKCS #8) if missing. Processes that
 * start at the same time over one directory all get the same key.
 */
export function ensureServiceAccountKey(dir: string): { readonly file: string; readonly isNew: boolean } {
  const file = path.join(dir, FILE_NAME);
  if (existsSync(file)) return { file, isNew: false };
  makeDirectory(dir, DIRECTORY_MODE);
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, privateKey, { mode: PRIVATE_MODE, flag: 'wx', flush: true });
    return { file, isNew: linkUnlessTaken(temporary, file) };
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Unlike a rename, a link never replaces an existing file. */
function linkUnlessTaken(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
