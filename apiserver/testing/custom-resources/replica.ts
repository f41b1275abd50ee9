import type { InProcessApi } from '../in-process-api';
import { startInProcessApi } from '../in-process-api';
import type { Backend } from '../../engine/storage/backend';
import type { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';

/** A replica whose feed from the shared store can be paused. */
export interface Replica {
  readonly api: InProcessApi;
  /** Counts of the writes that it sent, by type. */
  readonly writes: Record<'create' | 'update' | 'delete', number>;
  /** Pauses the feed of its cache until the returned function is called. */
  hold(): () => void;
  /** Delivers one more event while the feed is paused. */
  step(): void;
}

export async function startReplica(common: FaultyMemoryBackend): Promise<Replica> {
  const gate = { stepsLeft: Number.POSITIVE_INFINITY, wake: (): void => undefined };
  const allow = (steps: number): void => {
    gate.stepsLeft = steps;
    gate.wake();
  };
  const nextStep = async (): Promise<void> => {
    while (gate.stepsLeft < 1) {
      await new Promise<void>((resolve) => {
        gate.wake = resolve;
      });
    }
    gate.stepsLeft -= 1;
  };
  const writes = { create: 0, update: 0, delete: 0 };
  const backend: Backend = {
    get: async (...asked) => common.get(...asked),
    list: async (...asked) => common.list(...asked),
    create: async (...asked) => {
      writes.create += 1;
      return common.create(...asked);
    },
    update: async (...asked) => {
      writes.update += 1;
      return common.update(...asked);
    },
    delete: async (...asked) => {
      writes.delete += 1;
      return common.delete(...asked);
    },
    async *watch(options, signal) {
      for await (const batch of common.watch(options, signal)) {
        await nextStep();
        yield batch;
      }
    },
    currentRevision: async (signal) => common.currentRevision(signal),
    compact: async (...asked) => common.compact(...asked),
    close: async () => undefined,
  };
  return {
    api: await startInProcessApi(backend),
    writes,
    hold: () => {
      allow(0);
      return () => {
        allow(Number.POSITIVE_INFINITY);
      };
    },
    step: () => {
      allow(gate.stepsLeft + 1);
    },
  };
}
