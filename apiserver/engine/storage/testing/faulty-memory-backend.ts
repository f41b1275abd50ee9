import type { ListOptions, ListResult, Revision, WatchOptions } from '../backend';
import { MemoryBackend } from '../stores/memory/memory-backend';

/** The store in memory with its complete history, counters of calls, and switches for the faults that a real store shows. */
export class FaultyMemoryBackend extends MemoryBackend {
  /** Runs before each page of a list is read. */
  beforeList: ((prefix: string, options: ListOptions) => Promise<void>) | undefined;
  /** Revisions that watches leave out, as a lossy client would. */
  readonly lostRevisions = new Set<number>();
  readonly calls = { list: 0, currentRevision: 0, watch: 0 };
  readonly watches: WatchOptions[] = [];

  /** `prefix` is the root of the served keys, without a slash at the end. */
  constructor(prefix = '/registry') {
    super({ prefix });
  }

  override async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    this.calls.list += 1;
    await this.beforeList?.(prefix, options);
    return super.list(prefix, options, signal);
  }

  override async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    this.calls.watch += 1;
    this.watches.push(options);
    for await (const batch of super.watch(options, signal)) {
      const kept = batch.filter(({ revision }) => !this.lostRevisions.has(revision));
      if (kept.length > 0) yield kept;
    }
  }

  override async currentRevision(signal: AbortSignal): Promise<number> {
    this.calls.currentRevision += 1;
    return super.currentRevision(signal);
  }
}
