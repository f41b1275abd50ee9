import { createHash } from 'node:crypto';
import { RevisionSet } from './revision-set';

/** Versions that a list covers, so that their events were not requested: after `from`, up to `to`. */
export interface Relist {
  readonly from: number;
  readonly to: number;
}

/** One object of the final cache of an informer, to compare it with the store. */
export interface CachedObject {
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly version: number;
  readonly uid: string;
  readonly turn: string;
  /** The digest of the whole object, if the client keeps it unchanged. */
  readonly digest?: string;
}

/** The report of one informer. */
export interface JournalReport {
  readonly view: string;
  /** The client and its address. */
  readonly informer: string;
  /** A RevisionSet. */
  readonly seen: string;
  readonly events: number;
  readonly watches: number;
  /** The number of lists after the first. */
  readonly relists: readonly Relist[];
  /** The errors of watches, with their numbers. */
  readonly failures: Readonly<Record<string, number>>;
  readonly complaints: readonly string[];
  readonly objects: readonly CachedObject[];
}

export type ChangeType = 'add' | 'update' | 'delete';

/** The parts of an object that journals read. */
export interface SeenObject {
  readonly metadata?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

const COMPLAINTS_MAX = 20;
const FAILURES_MAX = 50;

/**
 * Checks one informer while it runs, in memory that does not grow with the number of events: versions of an object only increase, no version
 * arrives twice, and each watch starts after its version and increases. Missing versions are found at the end, from `seen`.
 */
export class Journal {
  readonly seen: RevisionSet;
  readonly complaints: string[] = [];
  readonly relists: Relist[] = [];
  readonly failures = new Map<string, number>();
  events = 0;
  watches = 0;
  #lists = 0;
  /** Versions by uid of existing objects. */
  readonly #newest = new Map<string, number>();
  /** Their uids by namespace and name. */
  readonly #uids = new Map<string, string>();

  constructor(base: number) {
    this.seen = new RevisionSet(base);
  }

  /** Records an event of the informer. `isFromList`: it is the difference between two lists. */
  observe(type: ChangeType, { metadata }: SeenObject, isFromList: boolean): void {
    const { uid = '', namespace = '', name = '', resourceVersion } = metadata ?? {};
    const key = `${namespace}/${name}`;
    const version = Number(resourceVersion);
    const before = this.#newest.get(uid);
    // Informers identify objects by name: an object that was recreated between two lists is an update to them.
    const isMadeAgain = isFromList && type === 'update' && before === undefined && this.#uids.has(key);
    this.events++;
    if (isMadeAgain) this.#newest.delete(this.#uids.get(key) ?? '');
    if (type === 'delete') {
      this.#newest.delete(uid);
      this.#uids.delete(key);
    } else {
      this.#newest.set(uid, version);
      this.#uids.set(key, uid);
    }
    // The last known state of an object deleted between two lists, which was recorded before.
    if (type === 'delete' && isFromList) return;
    if (type === 'add' && before !== undefined)
      this.#complain(`${name} was added twice, at ${String(version)}`);
    if (type !== 'add' && before === undefined && !isMadeAgain) {
      this.#complain(`${type} of ${name}, which was not there`);
    }
    if (before !== undefined && version <= before) {
      this.#complain(`${name} went from ${String(before)} to ${String(version)} (${type})`);
    }
    if (!this.seen.add(version)) this.#complain(`version ${String(version)} arrived twice (${name})`);
  }

  listed(resourceVersion: string | undefined): void {
    const to = Number(resourceVersion);
    this.#lists++;
    if (this.#lists > 1) this.relists.push({ from: this.seen.newest, to });
  }

  failed(reason: string): void {
    if (this.failures.size < FAILURES_MAX || this.failures.has(reason)) {
      this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
    }
  }

  /** The check of one watch; it gets every event before the informer. */
  watch(from: string | undefined): (type: string, object: SeenObject) => void {
    let last = Number(from ?? 0);
    this.watches++;
    return (type, { metadata }) => {
      const version = Number(metadata?.resourceVersion);
      if (type === 'ERROR') return;
      const isForward = type === 'BOOKMARK' ? version >= last : version > last;
      if (!isForward) {
        this.#complain(`${type} at ${String(version)} after ${String(last)} in a watch from ${String(from)}`);
      }
      last = version;
    };
  }

  #complain(text: string): void {
    if (this.complaints.length < COMPLAINTS_MAX) this.complaints.push(text);
  }
}

/** The digest of an object, independent of the order of fields; lists omit kind and apiVersion. */
export function digestOf(object: SeenObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = { kind: '', apiVersion: '', ...object };
  return createHash('sha256')
    .update(JSON.stringify(sorted(rest)))
    .digest('base64')
    .slice(0, 16);
}

export function cachedObject(object: SeenObject, withDigest: boolean): CachedObject {
  const { namespace = '', name = '', uid = '', resourceVersion, annotations } = object.metadata ?? {};
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    version: Number(resourceVersion),
    uid,
    turn: annotations?.['turn'] ?? '',
    ...(withDigest ? { digest: digestOf(object) } : {}),
  };
}

export function reportOf(
  journal: Journal,
  about: { readonly view: string; readonly informer: string; readonly objects: readonly CachedObject[] },
): JournalReport {
  const { seen, events, watches, relists, complaints, failures } = journal;
  return {
    ...about,
    seen: seen.toString(),
    events,
    watches,
    relists,
    complaints,
    failures: Object.fromEntries(failures),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
