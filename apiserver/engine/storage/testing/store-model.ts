import type { StoredRecord } from '../backend';

interface ModelEvent {
  readonly revision: number;
  readonly key: string;
  /** Undefined for a delete. */
  readonly value: Buffer | undefined;
  readonly created: boolean;
}

/** What a backend should answer, computed in the plainest way from the list of everything that ever happened. */
export class StoreModel {
  compactRevision = 0;
  readonly #events: ModelEvent[] = [];
  readonly #current = new Map<string, StoredRecord>();
  #startRevision = 0;

  /** Nothing below this revision belongs to the model. */
  startAt(revision: number): void {
    this.#startRevision = revision;
    this.compactRevision = revision;
  }

  /** The newest revision the model knows of. */
  get revision(): number {
    return Math.max(this.#startRevision, this.newestEvent);
  }

  /** The revision of the newest event, or 0. */
  get newestEvent(): number {
    return this.#events.at(-1)?.revision ?? 0;
  }

  get(key: string): StoredRecord | undefined {
    return this.#current.get(key);
  }

  put(key: string, value: Buffer, revision: number): void {
    this.#checkNext(revision);
    this.#events.push({ revision, key, value, created: !this.#current.has(key) });
    this.#current.set(key, { key, value, revision });
  }

  delete(key: string, revision: number): void {
    this.#checkNext(revision);
    this.#events.push({ revision, key, value: undefined, created: false });
    this.#current.delete(key);
  }

  list(options: { readonly revision?: number; readonly limit?: number; readonly after?: string }): {
    readonly records: StoredRecord[];
    readonly remaining: number;
  } {
    const { revision = this.revision, limit = Infinity, after } = options;
    const state = new Map<string, StoredRecord>();
    for (const event of this.#events) {
      if (event.revision > revision) break;
      if (event.value === undefined) state.delete(event.key);
      else state.set(event.key, { key: event.key, value: event.value, revision: event.revision });
    }
    const all = [...state.values()]
      .filter(({ key }) => after === undefined || compareBytes(key, after) > 0)
      .sort((a, b) => compareBytes(a.key, b.key));
    return { records: all.slice(0, limit), remaining: Math.max(0, all.length - limit) };
  }

  /** In the form of `linesOf` in watch-recorder.ts. */
  linesFrom(from: number): string[] {
    return this.#events
      .filter(({ revision }) => revision >= from)
      .map(({ revision, key, value, created }) =>
        value === undefined
          ? `${String(revision)} delete ${key}`
          : `${String(revision)} put ${key}=${value.toString()}${created ? ' created' : ''}`,
      );
  }

  /** The newest put at or below this revision: older etcd loses a deletion's event when it is compacted exactly there. */
  putRevisionNear(revision: number): number | undefined {
    return this.#events.findLast((event) => event.revision <= revision && event.value !== undefined)
      ?.revision;
  }

  #checkNext(revision: number): void {
    if (revision <= this.revision) {
      throw new Error(`revision ${String(revision)} does not follow ${String(this.revision)}`);
    }
  }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
