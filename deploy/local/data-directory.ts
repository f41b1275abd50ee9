import { accessSync, closeSync, constants, fstatSync, openSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Failure, Stage } from './foreground';
import { print } from './foreground';

const CHECK_MS = 1_000;

/**
 * Watches the data directory of a running set. The stage fails when the directory is removed or replaced. A single file that is gone or cannot be
 * read is reported once: the programs keep what they read of it, so that the set continues, but their next start needs the file. `storeDir`, of
 * which the store itself takes care, is not searched.
 */
export function watchDataDirectory(dataDir: string, storeDir: string): Stage {
  // Kept open, so that no other directory gets its inode.
  const directory = openSync(dataDir, 'r');
  const { ino } = fstatSync(directory);
  const files = listFiles(dataDir, storeDir);
  let missing: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<Failure>((resolve) => {
    timer = setInterval(() => {
      if (isReplaced(dataDir, ino)) {
        clearInterval(timer);
        resolve({ reason: `the data directory ${dataDir} was removed or replaced`, exitCode: 1 });
        return;
      }
      const found = files.filter((file) => !isReadable(file));
      const news = found.filter((file) => !missing.includes(file));
      missing = found;
      if (news.length > 0)
        print(
          `gone or not readable: ${news.join(', ')}. The running programs keep what they read; restore this before their next start`,
        );
    }, CHECK_MS);
  });
  return {
    failed,
    stop: async () => {
      clearInterval(timer);
      return Promise.resolve(closeSync(directory));
    },
  };
}

function listFiles(dir: string, excluded: string): readonly string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) return file === excluded ? [] : listFiles(file, excluded);
    return entry.isFile() ? [file] : [];
  });
}

/** Any other error says nothing about the directory, so that the next check decides. */
function isReplaced(dir: string, inode: number): boolean {
  try {
    return statSync(dir).ino !== inode;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
