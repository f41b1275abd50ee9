import type { BundleStore } from './bundle-store';

/** What a store has contained. It is kept in the store as a bundle of its own, and holds nothing secret. */
export interface BundleRecord {
  /** SHA-256 fingerprints of the certificates of authorities, by bundle. */
  readonly fingerprints: Readonly<Record<string, string>>;
  /** Bundles with a key or a password. */
  readonly keys: readonly string[];
}

const RECORD_FILE = 'record.json';
const ATTEMPTS_MAX = 5;

/** Reads the record. Undefined if there is none; throws if it cannot be parsed. */
export async function readRecord(store: BundleStore, name: string): Promise<BundleRecord | undefined> {
  const text = (await store.read(name))?.[RECORD_FILE];
  if (text === undefined) return undefined;
  try {
    const { fingerprints, keys } = JSON.parse(text) as BundleRecord;
    return { fingerprints: { ...fingerprints }, keys: [...keys] };
  } catch (error) {
    throw new Error(`${RECORD_FILE} of the bundle "${name}" is damaged; restore it, or delete the bundle`, {
      cause: error,
    });
  }
}

/** Adds `found` to the record. Entries of bundles that are missing now are kept. */
export async function updateRecord(store: BundleStore, name: string, found: BundleRecord): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const before = await readRecord(store, name);
    const next: BundleRecord = {
      fingerprints: { ...before?.fingerprints, ...found.fingerprints },
      keys: [...new Set([...(before?.keys ?? []), ...found.keys])].sort(),
    };
    const text = `${JSON.stringify(next, undefined, 2)}\n`;
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(next)) return;
    if (await store.write(name, { [RECORD_FILE]: text })) return;
  }
  throw new Error(`other writers changed "${name}" ${String(ATTEMPTS_MAX)} times; run this again`);
}
