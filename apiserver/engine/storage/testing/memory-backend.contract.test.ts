import { describeBackendContract } from './contract';
import { MemoryBackend } from './memory-backend';

describeBackendContract('the store in memory', async () => {
  const backend = new MemoryBackend();
  return Promise.resolve({ backend, prefix: '/registry', teardown: async () => backend.close() });
});
