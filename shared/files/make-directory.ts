import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a directory, and those above it that are missing, with this mode. Throws an Error that names it and says why when it cannot be
 * made. It is not left to `mkdir` with `recursive`: where a file system says that a path does not exist although the directory above
 * does, as /proc does, Node 20 tries for ever.
 */
export function makeDirectory(dir: string, mode: number): void {
  const missing: string[] = [];
  for (let at = path.resolve(dir); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  try {
    for (const each of missing) makeOne(each, mode);
    if (!statSync(dir).isDirectory()) throw new Error('it is no directory');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the directory ${dir} cannot be made: ${why}`, { cause: error });
  }
}

/** Another process may have made it in the meantime. */
function makeOne(dir: string, mode: number): void {
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
