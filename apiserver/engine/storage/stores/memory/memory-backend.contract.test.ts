import { describeBackendContract } from '../../testing/contract';
import { MemoryBackend } from '../../testing/memory-backend';

describeBackendContract('the store in memory', async () => {
  const backend = new MemoryBackend();
  return Promise.resolve({ backend, prefix: '/registry', teardown: async () => backend.close() });
});
