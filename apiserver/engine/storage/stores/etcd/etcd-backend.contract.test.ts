import { PATIENCE_MS } from '../../../../../shared/testing/eventually';
import { startEtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { silentLog } from '../../../../../shared/log/log';
import { describeBackendContract } from '../../testing/contract';
import { createEtcdBackend } from './etcd-backend';

describeBackendContract('etcd', async () => {
  const cluster = await startEtcdCluster({ size: 1, extraArgs: ['--unsafe-no-fsync'] });
  const prefix = '/registry';
  const backend = createEtcdBackend({
    endpoints: cluster.endpoints,
    prefix,
    log: silentLog,
    callTimeoutMs: PATIENCE_MS,
  });
  return {
    backend,
    prefix,
    teardown: async () => {
      await backend.close();
      await cluster.stop();
    },
  };
});
