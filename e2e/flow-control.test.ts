import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../shared/testing/eventually';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteLocalServer } from './support/suite';

/** The requirements of Kubernetes' own e2e tests of API Priority and Fairness, and the output of kubectl. */
const local = suiteLocalServer('kubernetes');
const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1beta1';
const NAME = 'e2e-testing';

interface Condition {
  readonly type?: string;
  readonly status?: string;
}

function levelOf(name: string): object {
  return {
    metadata: { name },
    spec: {
      type: 'Limited',
      limited: { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } },
    },
  };
}

function schemaFor(user: string, level: string): object {
  const subjects = [{ kind: 'User', user: { name: user } }];
  return {
    metadata: { name: level },
    spec: {
      matchingPrecedence: 1_000,
      priorityLevelConfiguration: { name: level },
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
    },
  };
}

/** The uids of schema and level in the response to a request of the user. */
async function classified(user: string): Promise<readonly unknown[]> {
  const { headers } = await local.replica.client.request({
    path: '/version',
    headers: { 'impersonate-user': user, 'impersonate-group': 'system:authenticated' },
  });
  return [headers['x-kubernetes-pf-flowschema-uid'], headers['x-kubernetes-pf-prioritylevel-uid']];
}

test('requests can be classified by adding FlowSchemas and PriorityLevelConfigurations', async () => {
  const { client } = local.replica;
  const schema = await client.create(`${FLOW}/flowschemas`, schemaFor('noxu', NAME));
  const dangling = async (): Promise<string | undefined> => {
    const { body } = await client.get(`${FLOW}/flowschemas/${NAME}`);
    const { conditions = [] } = (body.status ?? {}) as { conditions?: readonly Condition[] };
    return conditions.find(({ type }) => type === 'Dangling')?.status;
  };
  await eventually('the condition reports the missing level', async () => (await dangling()) === 'True');
  const level = await client.create(`${FLOW}/prioritylevelconfigurations`, levelOf(NAME));
  await eventually('the condition reports that the level exists', async () => (await dangling()) === 'False');
  const uids = [schema.body.metadata?.uid, level.body.metadata?.uid];
  await eventually(
    'requests match the schema',
    async () => (await classified('noxu')).join() === uids.join(),
  );
  const others = await classified('foo');
  expect(others.filter((uid) => uids.includes(uid as string))).toEqual([]);
  expect(await classified('noxu')).toEqual(uids);
});

const SCHEMAS = [
  /^NAME +PRIORITYLEVEL +MATCHINGPRECEDENCE +DISTINGUISHERMETHOD +AGE +MISSINGPL$/mu,
  /^exempt +exempt +1 +<none> +\S+ +False$/mu,
  /^system-leader-election +leader-election +100 +ByUser +\S+ +False$/mu,
  /^catch-all +catch-all +10000 +ByUser +\S+ +False$/mu,
];
const LEVELS = [
  /^NAME +TYPE +ASSUREDCONCURRENCYSHARES +QUEUES +HANDSIZE +QUEUELENGTHLIMIT +AGE$/mu,
  /^exempt +Exempt +<none> +<none> +<none> +<none> +\S+$/mu,
  /^global-default +Limited +20 +128 +6 +50 +\S+$/mu,
  /^leader-election +Limited +10 +16 +4 +50 +\S+$/mu,
];

for (const { title, program } of findKubectls()) {
  (program === undefined ? test.skip : test)(
    `${title} prints the tables of v1.21, with missing levels`,
    async () => {
      const home = path.join(local.dir, `home of ${title}`);
      mkdirSync(home, { recursive: true });
      const options = { kubeconfig: local.replica.kubeconfig, home };
      let shown = '';
      await eventually('schemas have their conditions', async () => {
        shown = (await runKubectl(program ?? '', ['get', 'flowschemas'], options)).stdout;
        return shown !== '' && !/\?$/mu.test(shown);
      });
      for (const row of SCHEMAS) expect(shown).toMatch(row);
      const levels = await runKubectl(program ?? '', ['get', 'prioritylevelconfigurations'], options);
      for (const row of LEVELS) expect(levels.stdout).toMatch(row);
    },
  );
}
