import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';
import { connect } from 'orch/client';
import { startControlPlane } from 'orch/testing';
import type { Link } from './operator-suite';
import { describeOperator } from './operator-suite';

const OPERATOR = 'site-operator';
const CONFIG = path.join(__dirname, 'config');
/** Takes over quickly, but not from a leader in a process that has no processor for a second. */
const LEASE_MS = 3_000;

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
  return { admin: connect(cluster), leaseMs: LEASE_MS, link, stop: async () => cluster.stop() };
});

test('the code of the tutorial is that of the files', () => {
  const page = readFileSync(path.join(repositoryRoot, 'apiserver/docs/tutorial.md'), 'utf8');
  const blocks = [...page.matchAll(/```(?:ts|yaml) (\S+)\n(.*?)```/gsu)];
  const shown = Object.fromEntries(blocks.map(([, name = '', text]) => [name, text]));
  const files = Object.keys(shown).map((name) => [name, readFileSync(path.join(__dirname, name), 'utf8')]);
  expect(shown).toEqual(Object.fromEntries(files));
  expect(Object.keys(shown)).toContain('site.spec.ts');
});
