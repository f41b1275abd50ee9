import { eventually } from '../shared/testing/eventually';
import { runAdmin } from './support/admin';
import { suiteHaSet } from './support/suite';

/** `orch-admin` against a set of three etcd members and two API servers. */
const COLLECTION = '/api/v1/namespaces/default/configmaps';

const set = suiteHaSet({
  replicas: 2,
  etcd: 3,
  balancer: false,
  controllerManagers: 0,
  dialect: 'kubernetes',
});

const etcdServers = (): string => `--etcd-servers=${set.etcd.endpoints.join(',')}`;
const parsed = (text: string): Readonly<Record<string, unknown>> =>
  JSON.parse(text) as Record<string, unknown>;

test('cache compare reports equal replicas with their health and version', async () => {
  await set.client.create(COLLECTION, { metadata: { name: 'a' } });
  const { code, stdout } = await runAdmin(
    'check',
    `--kubeconfig=${set.kubeconfig}`,
    ...serversOf(),
    '-o',
    'json',
  );
  expect(parsed(stdout)).toMatchObject({
    isWell: true,
    replicas: [{ isReady: true, version: expect.stringMatching(/^v1\.21/) as string }, { isReady: true }],
    resources: expect.arrayContaining([
      expect.objectContaining({ resource: 'configmaps', isEqual: true }),
    ]) as unknown,
  });
  expect(code).toBe(0);
});

test('etcd status lists the members, the leader and the applied revisions', async () => {
  await eventually('all members have applied everything', async () => {
    const { code } = await runAdmin('etcd', 'status', etcdServers());
    return code === 0;
  });
  const { stdout } = await runAdmin('etcd', 'status', etcdServers(), '-o=json');
  const { members, alarms, problems } = parsed(stdout) as {
    members: { isLeader: boolean }[];
    alarms: [];
    problems: [];
  };
  expect({ alarms, problems }).toEqual({ alarms: [], problems: [] });
  expect(members).toHaveLength(3);
  expect(members.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  const text = (await runAdmin('etcd', 'status', etcdServers())).stdout;
  expect(text).toContain('ENDPOINT');
  // The output is not a terminal.
  expect(text).not.toContain('\u001B');
});

test('defrag handles the members one after the other, and there is no alarm to disarm', async () => {
  const defragmented = await runAdmin('etcd', 'defragment', etcdServers(), '-o=json');
  expect(parsed(defragmented.stdout)).toMatchObject({ members: [{}, {}, {}] });
  const disarmed = await runAdmin('etcd', 'disarm', etcdServers());
  expect(disarmed).toEqual({ code: 0, stdout: 'there are no alarms\n', stderr: '' });
});

test('a stopped member and a stopped replica are reported', async () => {
  await set.etcd.members[2]?.kill();
  const status = await runAdmin('etcd', 'status', etcdServers(), '--timeout=3s');
  expect(status.code).toBe(1);
  expect(status.stdout).toMatch(/does not answer as it should .*check --etcd-servers/);
  const disarm = await runAdmin(
    'etcd',
    'disarm',
    `--etcd-servers=${String(set.etcd.endpoints[2])}`,
    '--timeout=3s',
  );
  expect(disarm).toMatchObject({ code: 1, stdout: '' });
  expect(disarm.stderr.trim().split('\n')).toHaveLength(1);
  await set.replicas[1]?.kill();
  const check = await runAdmin('check', `--kubeconfig=${set.kubeconfig}`, ...serversOf());
  expect(check.code).toBe(1);
  expect(check.stdout).toContain('not ready');
});

test.each([
  [['backup'], '--file or --target is required'],
  [
    ['backup', '--file=x', '--etcd-servers=host'],
    '--etcd-servers must be like https://host:2379, not "host"',
  ],
  [['restore', '--file=x'], '--data-dir is required'],
  [['check'], '--kubeconfig is required'],
  [['etcd', 'stauts'], 'did you mean etcd status?'],
])('%j is refused with what to do', async (words, sentence) => {
  const { code, stdout, stderr } = await runAdmin(...words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(sentence);
});

test('--help lists the commands by group', async () => {
  const { stdout } = await runAdmin('--help');
  for (const heading of ['Backup', 'Certificates', 'Control plane', 'etcd'])
    expect(stdout).toContain(`${heading} commands:`);
  expect((await runAdmin('backup', '--help')).stdout).toContain('--etcd-cafile');
});

function serversOf(): readonly string[] {
  return [`--servers=${set.replicas.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}`];
}
