import type { LogRow } from './rows';

/** One committed revision with its value, which is undefined for a delete. */
export interface Committed {
  readonly row: LogRow;
  readonly value: Buffer | undefined;
}

/** The newest revisions, kept in memory so that watches that keep up need not read the disk. Bounded in bytes and in number. */
export class Tail {
  #entries: Committed[] = [];
  #bytes = 0;

  push(committed: readonly Committed[]): void {
    for (const each of committed) {
      this.#entries.push(each);
      this.#bytes += bytesOf(each);
    }
    let dropped = 0;
    while (this.#bytes > TAIL_BYTES_MAX || this.#entries.length - dropped > TAIL_REVISIONS_MAX) {
      const oldest = this.#entries[dropped];
      if (oldest === undefined) break;
      this.#bytes -= bytesOf(oldest);
      dropped += 1;
    }
    if (dropped > 0) this.#entries = this.#entries.slice(dropped);
  }

  /** The revisions from this one on, at most `max`; undefined when the first of them is no longer here. */
  from(revision: number, max: number): readonly Committed[] | undefined {
    const first = this.#entries[0]?.row.revision;
    if (first === undefined || revision < first) return undefined;
    return this.#entries.slice(revision - first, revision - first + max);
  }
}

const TAIL_BYTES_MAX = 4 * 1024 * 1024;
const TAIL_REVISIONS_MAX = 2048;
const ENTRY_BYTES = 300;

function bytesOf({ row, value }: Committed): number {
  return ENTRY_BYTES + row.key.length + (value?.length ?? 0);
}
