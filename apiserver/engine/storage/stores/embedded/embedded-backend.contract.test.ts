import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../../shared/log/log';
import { describeBackendContract } from '../../testing/contract';
import { openEmbeddedBackend } from './embedded-backend';

describeBackendContract('the embedded store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'embedded-contract-'));
  const backend = await openEmbeddedBackend({ directory, prefix: '/registry', log: silentLog });
  return {
    backend,
    prefix: '/registry',
    teardown: async () => {
      await backend.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
