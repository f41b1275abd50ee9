import path from 'node:path';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import { caFileOf, serverUrl } from '../deploy/local/api-server';
import { eventually } from '../shared/testing/eventually';
import { ApiClient } from './support/client';
import { findKubectls, runKubectl } from './support/kubectl';
import { Terminal } from './support/terminal';
import { explained, makeWorkspace } from './support/workspace';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

describe('npm start with stand-in nodes', () => {
  const workspace = makeWorkspace('nodes');
  let terminal: Terminal;
  let api: ApiClient;

  beforeAll(
    explained(async () => {
      const port = await freePort();
      terminal = new Terminal(process.execPath, [
        path.join(repositoryRoot, 'deploy', 'local', 'start.mjs'),
        `--port=${String(port)}`,
        '--dialect=kubernetes',
        '--nodes=2',
        `--data-dir=${workspace.dir}`,
      ]);
      await terminal.ready();
      const caFile = caFileOf(path.join(workspace.dir, 'certs'));
      const token = ensureCredentials(workspace.dir).adminToken;
      api = new ApiClient({ server: serverUrl(port), caFile, token });
    }),
  );
  afterAll(async () => {
    api?.close();
    await terminal?.pressCtrlC();
    workspace.remove();
  });

  interface PodState {
    readonly spec?: { readonly nodeName?: string };
    readonly status?: { readonly phase?: string };
  }

  test(
    'a Deployment becomes pods that run on both nodes, and a deleted one leaves none',
    explained(async () => {
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
      const spec = { replicas: 4, selector: { matchLabels: labels }, template };
      expect((await api.create(DEPLOYMENTS, { metadata: { name: 'web' }, spec })).status).toBe(201);
      await eventually('all replicas are available', async () => {
        const { status } = (await api.get(`${DEPLOYMENTS}/web`)).body;
        return (status as { readonly availableReplicas?: number } | undefined)?.availableReplicas === 4;
      });
      const pods = ((await api.get(PODS)).body.items ?? []) as readonly PodState[];
      expect(pods.map(({ status }) => status?.phase)).toEqual(Array(4).fill('Running'));
      expect(new Set(pods.map((each) => each.spec?.nodeName))).toEqual(new Set(['node-1', 'node-2']));
      await api.delete(`${DEPLOYMENTS}/web`);
      await eventually('the pods are gone', async () => (await api.get(PODS)).body.items?.length === 0);
    }),
  );

  for (const { title, program } of findKubectls()) {
    (program === undefined ? test.skip : test)(
      `${title} top works, and logs and exec say that nothing runs`,
      explained(async () => {
        const options = { kubeconfig: path.join(workspace.dir, 'kubeconfig'), home: workspace.dir };
        const kubectl = async (...words: string[]) => runKubectl(program ?? '', words, options);
        expect(await kubectl('run', 'one', '--image=x')).toMatchObject({ exitCode: 0 });
        await eventually('the pod has metrics', async () =>
          /^one +1m +1Mi/mu.test((await kubectl('top', 'pod')).stdout),
        );
        expect((await kubectl('top', 'node')).stdout).toMatch(/^node-1 .*\nnode-2 /mu);
        expect((await kubectl('logs', 'one')).stderr).toContain('runs no containers');
        expect((await kubectl('exec', 'one', '--', 'ls')).stderr).toContain('runs no containers');
        expect((await kubectl('describe', 'pod', 'one')).stdout).toContain(
          'Successfully assigned default/one to node-',
        );
        expect(await kubectl('delete', 'pod', 'one')).toMatchObject({ exitCode: 0 });
      }),
    );
  }
});
