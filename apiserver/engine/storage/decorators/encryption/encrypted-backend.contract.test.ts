import { PATIENCE_MS } from '../../../../../shared/testing/eventually';
import { randomBytes } from 'node:crypto';
import { startEtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { silentLog } from '../../../../../shared/log/log';
import { createEtcdBackend } from '../../stores/etcd/etcd-backend';
import { describeBackendContract } from '../../testing/contract';
import { FaultyMemoryBackend } from '../../testing/faulty-memory-backend';
import type { BackendSetup } from '../../testing/suite';
import { isFullScale } from '../../testing/suite';
import { encrypt } from './encrypt';
import { parseEncryptionRules } from './encryption-rules';
import { startKmsPlugin } from './testing/kms-plugin';

const PREFIX = '/registry';
/** The suite writes below folders of one part; below the prefix of a resource all of them are encrypted. */
const RESOURCE = '/core/secrets';

function rulesOf(provider: object) {
  const parsed = parseEncryptionRules({
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [provider] }],
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.rules;
}

describeBackendContract('etcd, encrypted by a service', async (): Promise<BackendSetup> => {
  const [cluster, plugin] = await Promise.all([
    startEtcdCluster({ size: 1, extraArgs: ['--unsafe-no-fsync'] }),
    startKmsPlugin(),
  ]);
  const prefix = PREFIX + RESOURCE;
  const etcd = createEtcdBackend({
    endpoints: cluster.endpoints,
    prefix,
    log: silentLog,
    callTimeoutMs: PATIENCE_MS,
  });
  const rules = rulesOf({ kms: { name: 'test', endpoint: plugin.endpoint, timeout: '10m' } });
  const { backend } = encrypt(etcd, rules, PREFIX);
  const teardown = async (): Promise<void> => {
    await backend.close();
    await Promise.all([cluster.stop(), plugin.stop()]);
  };
  return { backend, prefix, teardown };
});

// Which key encrypts makes no difference to the store: sealers have tests of their own.
if (isFullScale)
  describeBackendContract('the store in memory, encrypted by aesgcm', async (): Promise<BackendSetup> => {
    const rules = rulesOf({
      aesgcm: { keys: [{ name: 'key1', secret: randomBytes(32).toString('base64') }] },
    });
    const { backend } = encrypt(new FaultyMemoryBackend(PREFIX + RESOURCE), rules, PREFIX);
    return Promise.resolve({ backend, prefix: PREFIX + RESOURCE, teardown: async () => backend.close() });
  });
