import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { text as readText } from 'node:stream/consumers';
import path from 'node:path';
import type { CommandOutcome } from '../../shared/flags/command';
import { ADMIN } from './commands';
import { readInvocation } from '../../shared/flags/read-invocation';

/** The names of a server of each dialect; the process of the test speaks that of orch. */
const SERVED = [
  {
    dialect: 'orch',
    group: 'rbac.authorization.orch',
    service: 'orch',
    namespace: 'orch-public',
    role: 'orch:bootstrap-signer-clusterinfo',
    kubeletRole: 'system:node-agent-api-admin',
    approved: 'system:certificates.orch:certificatesigningrequests',
  },
  {
    dialect: 'kubernetes',
    group: 'rbac.authorization.k8s.io',
    service: 'kubernetes',
    namespace: 'kube-public',
    role: 'kubeadm:bootstrap-signer-clusterinfo',
    kubeletRole: 'system:kubelet-api-admin',
    approved: 'system:certificates.k8s.io:certificatesigningrequests',
  },
] as const;

let dir = '';
const servers: Server[] = [];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'orch-admin-'));
  delete process.env['KUBECONFIG'];
});
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
  rmSync(dir, { recursive: true });
});

async function run(...words: readonly string[]): Promise<CommandOutcome> {
  const invocation = readInvocation(ADMIN, words);
  if (invocation.outcome !== 'command') throw new Error(`no command: ${words.join(' ')}`);
  return invocation.command.run(invocation.argv);
}

interface Written {
  readonly metadata: { readonly name: string };
  /** Of bindings. */
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

/** A replica that serves `documents` by path, and answers every write. `written` gets the paths of created objects, and after those of bindings their role and subjects. Returns its address, `host:port`. */
async function startReplica(
  documents: (address: string) => Readonly<Record<string, unknown>>,
  written: string[] = [],
): Promise<string> {
  const server = createServer((request, response) => {
    const url = (request.url ?? '').split('?')[0] ?? '';
    const document = request.method === 'GET' ? documents(address)[url] : {};
    if (document === undefined) response.statusCode = 404;
    readText(request).then(
      (body) => {
        if (body !== '') {
          const { metadata, roleRef, subjects = [] } = JSON.parse(body) as Written;
          const bound = [roleRef, ...subjects].flatMap((each) => each?.name ?? []);
          written.push([`${url}/${metadata.name}`, ...bound].join(' '));
        }
        response.end(JSON.stringify(document ?? {}));
      },
      () => response.destroy(),
    );
  });
  servers.push(server.listen(0, '127.0.0.1').unref());
  await once(server, 'listening');
  const address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return address;
}

/** A replica of one group and one resource. */
async function startPlainReplica(group: string, service: string, written: string[] = []): Promise<string> {
  return startReplica(
    (address) => ({
      '/readyz': {},
      '/version': { gitVersion: 'v1' },
      '/api': { versions: ['v1'] },
      '/apis': { groups: [{ name: group, versions: [] }] },
      '/api/v1': {
        resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list', 'get'] }],
      },
      '/api/v1/configmaps': { metadata: { resourceVersion: '7' }, items: [] },
      [`/api/v1/namespaces/default/endpoints/${service}`]: {
        subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: Number(address.split(':')[1]) }] }],
      },
    }),
    written,
  );
}

function writeKubeconfig(address: string): string {
  const file = path.join(dir, 'kubeconfig');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: `http://${address}`, 'certificate-authority-data': 'Q0E=' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

describe.each(SERVED)(
  'a server of the dialect $dialect',
  ({ group, service, namespace, role, kubeletRole, approved }) => {
    test('has its replicas found by the Endpoints of its API', async () => {
      const address = await startPlainReplica(group, service);
      const outcome = await run('check', `--kubeconfig=${writeKubeconfig(address)}`, '-o=json');
      expect(outcome).toMatchObject({ code: 0, lines: [expect.stringContaining(`"server": "${address}"`)] });
    });

    test('gets its cluster information in its public namespace, by its groups', async () => {
      const written: string[] = [];
      const address = await startPlainReplica(group, service, written);
      const flags = [`--kubeconfig=${writeKubeconfig(address)}`, '--server=https://api.example:6443'];
      expect(await run('cluster-info', 'publish', ...flags)).toEqual({
        code: 0,
        lines: [`published ${namespace}/cluster-info`],
      });
      const rbac = `/apis/${group}/v1/namespaces/${namespace}`;
      const [prefix] = role.split(':');
      const bindings = `/apis/${group}/v1/clusterrolebindings/${String(prefix)}`;
      expect(written).toEqual([
        `/api/v1/namespaces/${namespace}/configmaps/cluster-info`,
        `${rbac}/roles/${role}`,
        `${rbac}/rolebindings/${role} ${role} system:anonymous`,
        `${bindings}:apiserver-kubelet-client ${kubeletRole} orch-apiserver-kubelet-client`,
      ]);
      written.length = 0;
      expect(await run('cluster-info', 'publish', ...flags, '--allow-join')).toMatchObject({ code: 0 });
      const tokens = `system:bootstrappers:${String(prefix)}:default-node-token`;
      expect(written.slice(-3)).toEqual([
        `${bindings}:kubelet-bootstrap system:node-bootstrapper ${tokens}`,
        `${bindings}:node-autoapprove-bootstrap ${approved}:nodeclient ${tokens}`,
        `${bindings}:node-autoapprove-certificate-rotation ${approved}:selfnodeclient system:nodes`,
      ]);
    });
  },
);

describe('the replicas that check compares', () => {
  const [{ group, service }] = SERVED;

  test('are named with or without https', async () => {
    const [first, second] = [
      await startPlainReplica(group, service),
      await startPlainReplica(group, service),
    ];
    const flags = [`--kubeconfig=${writeKubeconfig(first)}`, `--servers=${first},https://${second}/`];
    expect(await run('check', ...flags)).toMatchObject({
      code: 0,
      lines: expect.arrayContaining(['1 resources are the same on 2 of 2 replicas']) as unknown,
    });
  });

  test.each([
    'http://host:6443',
    'https://host',
    'host',
    'host:0',
    'host:70000',
    '::1:6443',
    'https://host:6443/api',
  ])('are not named by %s', async (server) => {
    const outcome = await run('check', '--kubeconfig=x', `--servers=${server}`);
    expect(outcome).toEqual({
      errors: [`--servers must be like host:6443 or https://host:6443, not "${server}"`],
    });
  });

  test('are not said to be the same where none of them answers', async () => {
    const address = await startPlainReplica(group, service);
    const flags = [`--kubeconfig=${writeKubeconfig(address)}`, '--servers=127.0.0.1:1,[::1]:1'];
    expect(await run('check', ...flags)).toMatchObject({
      code: 1,
      lines: expect.arrayContaining(['nothing was compared: 0 of 2 replicas are ready']) as unknown,
    });
  });
});

describe('a kubeconfig', () => {
  test('is that of KUBECONFIG where the flag names none', async () => {
    const [{ group, service }] = SERVED;
    const address = await startPlainReplica(group, service);
    process.env['KUBECONFIG'] = `${path.join(dir, 'missing')}:${writeKubeconfig(address)}`;
    expect(await run('check')).toMatchObject({ code: 0 });
    await expect(run('backup', `--file=${path.join(dir, 'b')}`)).rejects.toThrow(/gave no backup/u);
  });

  test.each([['check'], ['smoke'], ['cluster-info', 'publish', '--server=https://a']])(
    'is required by %s',
    async (...words) => {
      expect(await run(...words)).toEqual({
        errors: ['--kubeconfig is required, or KUBECONFIG in the environment'],
      });
    },
  );
});

describe('an error about a file names it', () => {
  const ETCD = '--etcd-servers=https://127.0.0.1:1';
  test.each([
    ['certs ensure --dir=NEW --plan=FILE', '--plan: cannot read FILE'],
    ['smoke --kubeconfig=FILE', 'cannot read FILE'],
    [
      'cluster-info publish --kubeconfig=GOOD --server=https://a --ca-file=FILE',
      '--ca-file: cannot read FILE',
    ],
    [`etcd status ${ETCD} --etcd-cafile=FILE`, '--etcd-cafile: cannot read FILE'],
    [
      `etcd status ${ETCD} --etcd-cafile=GOOD --etcd-certfile=FILE --etcd-keyfile=GOOD`,
      '--etcd-certfile: cannot read FILE',
    ],
    [
      `etcd status ${ETCD} --etcd-cafile=GOOD --etcd-certfile=GOOD --etcd-keyfile=FILE`,
      '--etcd-keyfile: cannot read FILE',
    ],
    ['backup verify --file=FILE', 'FILE'],
    ['restore --file=FILE --embedded-dir=NEW', 'FILE'],
    ['backup list --target=FILE', 'FILE'],
  ])('%s', async (words, message) => {
    const good = writeKubeconfig('127.0.0.1:1');
    const folder = path.join(dir, 'folder');
    mkdirSync(folder);
    // A directory is what Node names least.
    const isDirectoryFine = words.startsWith('backup list');
    for (const file of [path.join(dir, 'missing'), ...(isDirectoryFine ? [] : [folder])]) {
      const fill = (text: string): string =>
        text.replaceAll(
          /FILE|GOOD|NEW/gu,
          (word) => ({ FILE: file, GOOD: good })[word] ?? path.join(dir, 'new'),
        );
      await expect(run(...fill(words).split(' '))).rejects.toThrow(fill(message));
    }
  });

  test('also where it can be read, and is no plan or kubeconfig', async () => {
    const file = path.join(dir, 'strange');
    writeFileSync(file, 'foo: 1\n');
    await expect(run('certs', 'ensure', `--plan=${file}`, `--dir=${dir}`)).rejects.toThrow(
      `${file}: the plan has`,
    );
    await expect(run('smoke', `--kubeconfig=${file}`)).rejects.toThrow(`${file}: the kubeconfig names no`);
  });
});
