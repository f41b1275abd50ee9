import { describeBackendContract } from '../../testing/contract';
import { MemoryBackend } from './memory-backend';

describeBackendContract('the store in memory', async () => {
  const prefix = '/registry';
  const backend = new MemoryBackend({ prefix });
  return Promise.resolve({ backend, prefix, teardown: async () => backend.close() });
});
