import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../shared/concurrency/clock';
import { writeFileAtomically } from '../../../shared/files/atomic-file';
import { makeDirectory } from '../../../shared/files/make-directory';
import { readFlagFile } from '../../../shared/flags/command';
import type { Bundle, BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';

/**
 * Bundles as folders below `root`: `<root>/<name>/tls.crt`. Keys can be read by their owner and group only (mode 0640). One process writes a folder
 * at a time, by a lock file. A write that a crash interrupted is completed by the next read.
 */
export function openFolderStore(root: string): BundleStore {
  /** The contents of bundles when they were read last. */
  const seen = new Map<string, string>();
  return {
    read: async (name) => {
      const folder = path.join(root, name);
      if (existsSync(path.join(folder, JOURNAL_FILE)))
        await whileLocked(folder, () => {
          completeWrite(folder);
        });
      const bundle = readBundle(folder);
      seen.set(name, JSON.stringify(bundle ?? {}));
      return bundle;
    },
    write: async (name, bundle) => {
      const folder = path.join(root, name);
      makeDirectory(folder, FOLDER_MODE);
      return whileLocked(folder, () => {
        completeWrite(folder);
        if (seen.get(name) !== JSON.stringify(readBundle(folder) ?? {})) return false;
        writeFileAtomically(path.join(folder, JOURNAL_FILE), JSON.stringify(bundle), 0o640);
        writeFiles(folder, bundle);
        return true;
      });
    },
    // The supervisor that starts programs from files also restarts them.
    restart: async () => Promise.resolve(),
    close: () => undefined,
  };
}

function readBundle(folder: string): Bundle | undefined {
  if (!existsSync(folder)) return undefined;
  // A crash may leave the temporary file of an atomic write, such as a key.
  const files = readdirSync(folder).filter((file) => !file.startsWith('.') && !file.endsWith('.tmp'));
  return Object.fromEntries(
    files.map((file) => [file, readFlagFile('dir', path.join(folder, file)).toString()]),
  );
}

const LOCK_FILE = '.lock';
/** A write takes milliseconds: an older lock is that of a process that was killed, whose write the journal completes. */
const LOCK_AGE_MS_MAX = 10_000;
const LOCK_RETRY_MS = 20;

/**
 * Runs `section`, which must be synchronous, while no other process does so for this folder. Throws an Error that names the lock if it is held
 * for longer than any write takes.
 */
async function whileLocked<T>(folder: string, section: () => T): Promise<T> {
  const lock = path.join(folder, LOCK_FILE);
  for (let waitedMs = 0; !tryLock(lock); waitedMs += LOCK_RETRY_MS) {
    if (waitedMs > 2 * LOCK_AGE_MS_MAX) throw new Error(`other processes hold ${lock}; run this again`);
    await sleep(LOCK_RETRY_MS);
  }
  try {
    return section();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const heldSinceMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  if (systemClock.now() - heldSinceMs > LOCK_AGE_MS_MAX) rmSync(lock, { force: true });
  return false;
}

/** Holds the whole bundle while its files are written. */
const JOURNAL_FILE = '.writing';

function completeWrite(folder: string): void {
  const journal = path.join(folder, JOURNAL_FILE);
  if (existsSync(journal)) writeFiles(folder, JSON.parse(readFileSync(journal, 'utf8')) as Bundle);
}

function writeFiles(folder: string, bundle: Bundle): void {
  // The key is last: a program that finds a certificate with the key of its predecessor refuses the pair, and reads it again.
  for (const file of inOrder(bundle))
    writeFileAtomically(path.join(folder, file), bundle[file] ?? '', PRIVATE.has(file) ? 0o640 : 0o644);
  for (const file of OF_ROTATION) if (!(file in bundle)) rmSync(path.join(folder, file), { force: true });
  rmSync(path.join(folder, JOURNAL_FILE), { force: true });
}

const FOLDER_MODE = 0o755;
const PRIVATE: ReadonlySet<string> = new Set([
  BUNDLE_FILE.key,
  BUNDLE_FILE.tokenKey,
  BUNDLE_FILE.encrypting,
  BUNDLE_FILE.reading,
  BUNDLE_FILE.password,
  BUNDLE_FILE.nextKey,
  BUNDLE_FILE.previousKey,
]);
/** Files that a later state of the bundle does not have. */
const OF_ROTATION = [
  BUNDLE_FILE.rotation,
  BUNDLE_FILE.nextCertificate,
  BUNDLE_FILE.nextKey,
  BUNDLE_FILE.previousCertificate,
  BUNDLE_FILE.previousKey,
] as const;

function inOrder(bundle: Bundle): readonly string[] {
  return Object.keys(bundle).sort((a, b) => Number(PRIVATE.has(a)) - Number(PRIVATE.has(b)));
}
