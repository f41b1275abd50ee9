import { MessageChannel } from 'node:worker_threads';
import { describeBackendContract } from '../../testing/contract';
import { FaultyMemoryBackend } from '../../testing/faulty-memory-backend';
import { RemoteBackend } from './remote-backend';
import { serveBackend } from './serve-backend';

describeBackendContract('a store at the other end of a message port', async () => {
  const { port1, port2 } = new MessageChannel();
  const store = new FaultyMemoryBackend();
  serveBackend(store, port1);
  const backend = new RemoteBackend(port2);
  const teardown = async (): Promise<void> => {
    await backend.close();
    await store.close();
  };
  return Promise.resolve({ backend, prefix: '/registry', teardown });
});
