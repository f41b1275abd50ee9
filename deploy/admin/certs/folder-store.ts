import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '../../../shared/files/atomic-file';
import { makeDirectory } from '../../../shared/files/make-directory';
import { readFlagFile } from '../../../shared/flags/command';
import type { Bundle, BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';

/** Bundles as folders below `root`: `<root>/<name>/tls.crt`. Keys can be read by their owner and group only (mode 0640). */
export function openFolderStore(root: string): BundleStore {
  return {
    read: async (name) => {
      const folder = path.join(root, name);
      if (!existsSync(folder)) return Promise.resolve(undefined);
      const files = readdirSync(folder).filter((file) => !file.startsWith('.'));
      return Promise.resolve(
        Object.fromEntries(
          files.map((file) => [file, readFlagFile('dir', path.join(folder, file)).toString()]),
        ),
      );
    },
    write: async (name, bundle) => {
      const folder = path.join(root, name);
      makeDirectory(folder, FOLDER_MODE);
      // The key last: who finds a certificate with the key of its predecessor refuses the pair, and reads it again.
      for (const file of inOrder(bundle))
        writeFileAtomically(path.join(folder, file), bundle[file] ?? '', PRIVATE.has(file) ? 0o640 : 0o644);
      return Promise.resolve(true);
    },
    // The supervisor that starts programs from files also restarts them.
    restart: async () => Promise.resolve(),
    close: () => undefined,
  };
}

const FOLDER_MODE = 0o755;
const PRIVATE: ReadonlySet<string> = new Set([
  BUNDLE_FILE.key,
  BUNDLE_FILE.tokenKey,
  BUNDLE_FILE.encrypting,
  BUNDLE_FILE.reading,
  BUNDLE_FILE.password,
]);

function inOrder(bundle: Bundle): readonly string[] {
  return Object.keys(bundle).sort((a, b) => Number(PRIVATE.has(a)) - Number(PRIVATE.has(b)));
}
