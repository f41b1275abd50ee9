import path from 'node:path';
import { MessageChannel, Worker as NodeWorker } from 'node:worker_threads';
import type { Log } from '../../shared/log/log';
import type { Backend } from '../storage/backend';
import { serveBackend } from '../storage/remote/serve-backend';
import type { ThreadData } from './messages';
import type { Worker } from './offload-thread';

export interface SpawnParts {
  readonly backend: Backend;
  readonly log: Log;
  readonly serverAddress: string;
}

/** What one request may use, with room: 3 MiB of the worst values take some hundred megabytes. A thread that needs more ends alone. */
const HEAP_MIB_MAX = 1_024;

/** Begins a thread that carries out large requests. */
export function spawnThread({ backend, log, serverAddress }: SpawnParts): Worker {
  const requests = new MessageChannel();
  const store = new MessageChannel();
  serveBackend(backend, store.port1);
  const data: ThreadData = { requests: requests.port2, store: store.port2, serverAddress };
  const thread = new NodeWorker(path.join(__dirname, 'thread.js'), {
    // The flags decide what the thread is, and the dialect is read from them as everywhere.
    argv: process.argv.slice(2),
    workerData: data,
    transferList: [data.requests, data.store],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
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
