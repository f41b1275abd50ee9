import { silentLog } from '../../../../../shared/log/log';
import { patience } from '../../../../../shared/testing/eventually';
import { describeBackendContract } from '../../testing/contract';
import { FaultyMemoryBackend } from '../../testing/faulty-memory-backend';
import { StoreIdentityBackend } from './identity-backend';
import { encodeStoreIdentity } from '../../../../../shared/store-identity';
import { ReplaceableMemory } from './testing/replaceable-memory';

const KEY = '/registry/store-identity';

describe.each([0, 3_000_000_000])('with %d added to all revisions', (offset) => {
  describeBackendContract('a store that knows its identity', async () => {
    const memory = new FaultyMemoryBackend();
    await memory.create(KEY, encodeStoreIdentity({ id: 'known', offset }), {}, patience());
    const store = new ReplaceableMemory(memory);
    const backend = new StoreIdentityBackend({ store, key: KEY, log: silentLog });
    return { backend, prefix: '/registry', teardown: async () => backend.close() };
  });
});
