import path from 'node:path';
import { connect } from 'orch/client';
import { startControlPlane } from 'orch/testing';
import type { Link } from './operator-suite';
import { describeOperator } from './operator-suite';

const OPERATOR = 'site-operator';
const CONFIG = path.join(__dirname, 'config');

describeOperator('with orch/testing', async () => {
  const cluster = await startControlPlane({
    crds: [path.join(CONFIG, 'crd.yaml')],
    objects: [path.join(CONFIG, 'rbac.yaml')],
    listen: false,
  });
  const operator = cluster.as(OPERATOR);
  const link = async (): Promise<Link> => {
    const answers: { method: string; path: string; code: number }[] = [];
    let isPartitioned = false;
    const client = connect({
      fetch: async (target, init) => {
        if (isPartitioned) throw new Error('the network is down');
        const response = await operator.fetch(target, init);
        answers.push({ method: init?.method ?? 'GET', path: target, code: response.status });
        return response;
      },
    });
    return Promise.resolve({
      client,
      answers,
      conflict: (times) => cluster.faults.conflict('sites', times, { user: OPERATOR }),
      cutWatches: () => {
        cluster.faults.cutWatches({ user: OPERATOR });
        cluster.faults.clear();
      },
      expireWatches: () => cluster.faults.expire('sites'),
      partition: () => {
        isPartitioned = true;
        cluster.faults.cutWatches({ user: OPERATOR });
        cluster.faults.clear();
      },
      close: async () => Promise.resolve(client.close()),
    });
  };
  return { admin: connect(cluster), link, stop: async () => cluster.stop() };
});
