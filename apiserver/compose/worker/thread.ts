import { workerData } from 'node:worker_threads';
import { createProcessLog } from '../../../shared/log/pino-log';
import { completeOptions } from '../options/complete-options';
import { parseServerFlags } from '../options/parse-server-flags';
import { RemoteBackend } from '../../engine/storage/decorators/remote/remote-backend';
import type { ThreadData } from '../../engine/workers/messages';
import { startReplica } from './replica';
import { serveRequests } from '../../engine/workers/serve-requests';

/** The program of the thread for large requests: a replica with the flags of the process, over the store of the main thread. */
async function main({ requests, store }: ThreadData): Promise<void> {
  const parsed = parseServerFlags(process.argv.slice(2));
  const completed = parsed.outcome === 'values' ? completeOptions(parsed.values) : undefined;
  if (completed?.ok !== true) throw new Error('the flags of the process cannot be read again');
  const { options } = completed;
  const log = createProcessLog(options.logging).log.child({ thread: 'large requests' });
  process.on('unhandledRejection', (error) => {
    log.error({ error }, 'unhandled promise rejection');
  });
  const services = await startReplica(options, { backend: new RemoteBackend(store), log });
  serveRequests(requests, services);
  log.info({}, 'ready');
}

main(workerData as ThreadData).catch((error: unknown) => {
  // An uncaught error ends the thread, and the main thread receives the error.
  process.nextTick(() => {
    throw error;
  });
});
