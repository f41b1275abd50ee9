import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { Backend } from '../../storage/backend';
import type { MemoryBackend } from '../../watch/testing/memory-backend';

/** A replica whose feed from the common store can be held back. */
export interface Replica {
  readonly api: InProcessApi;
  /** Writes that it sent, by what they were. */
  readonly writes: Record<'create' | 'update' | 'delete', number>;
  /** Its cache hears of nothing new from now on, until the result is called. */
  hold(): () => void;
}

export async function startReplica(common: MemoryBackend): Promise<Replica> {
  let held: Promise<void> = Promise.resolve();
  const writes = { create: 0, update: 0, delete: 0 };
  const backend: Backend = {
    get: async (key) => common.get(key),
    list: async (...asked) => common.list(...asked),
    create: async (key, value, options) => {
      writes.create += 1;
      return common.create(key, value, options);
    },
    update: async (key, value, options) => {
      writes.update += 1;
      return common.update(key, value, options);
    },
    delete: async (key, expected) => {
      writes.delete += 1;
      return common.delete(key, expected);
    },
    async *watch(options, signal) {
      for await (const batch of common.watch(options, signal)) {
        await held;
        yield batch;
      }
    },
    currentRevision: async (signal) => common.currentRevision(signal),
    compact: async (revision) => common.compact(revision),
    close: async () => undefined,
  };
  return {
    api: await startInProcessApi(backend),
    writes,
    hold: () => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}
