import { getHeapStatistics } from 'node:v8';
import { MessageChannel, Worker as NodeWorker } from 'node:worker_threads';
import type { Log } from '../../../shared/log/log';
import type { Backend } from '../storage/backend';
import { serveBackend } from '../storage/decorators/remote/serve-backend';
import type { ThreadData } from './messages';
import type { Worker } from './offload-thread';

export interface SpawnParts {
  readonly backend: Backend;
  readonly log: Log;
  /**
   * The compiled program of the worker, an absolute path: it composes a whole replica, which the engine cannot
   * import.
   */
  readonly threadProgram: string;
}

/**
 * Heap limit of a worker: 3 MiB of the most expensive values take 570 MiB. At most half of the limit of the process,
 * so that limiting the process limits the worker. A worker over the limit ends alone.
 */
const HEAP_MIB_MAX = 1_024;
const MIB = 1_024 * 1_024;

/** Starts a worker for offloaded requests. */
export function spawnThread({ backend, log, threadProgram }: SpawnParts): Worker {
  const requests = new MessageChannel();
  const store = new MessageChannel();
  serveBackend(backend, store.port1);
  const data: ThreadData = { requests: requests.port2, store: store.port2 };
  const thread = new NodeWorker(threadProgram, {
    // The flags configure the worker, including the dialect.
    argv: process.argv.slice(2),
    workerData: data,
    transferList: [data.requests, data.store],
    resourceLimits: { maxOldGenerationSizeMb: heapMib() },
  });
  const closePorts = (): void => {
    requests.port1.close();
    store.port1.close();
  };
  thread.on('error', (error) => log.error({ error }, 'thread for large requests failed'));
  thread.on('exit', closePorts);
  for (const handle of [thread, requests.port1, store.port1]) handle.unref();
  return {
    requests: requests.port1,
    end: async () => {
      closePorts();
      await thread.terminate();
    },
  };
}

function heapMib(): number {
  const { heap_size_limit: ownBytes } = getHeapStatistics();
  return Math.min(HEAP_MIB_MAX, Math.floor(ownBytes / 2 / MIB));
}
