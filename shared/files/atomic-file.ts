import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file as a whole: a reader sees the old or the new content, also after a crash. `mode` is that of a new file. Throws an Error that names
 * the file, with the code of the system.
 */
export function writeFileAtomically(file: string, text: string, mode: number): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const descriptor = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { message, code } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`cannot write ${file}: ${message}`, { cause: error }), { code });
  }
}
