import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot, requireBuilt } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { createClient } from '../shared/client/client';
import { loadKubeconfig } from '../shared/client/kubeconfig';
import { PATIENCE_MS } from '../shared/testing/eventually';
import { runAdmin } from './support/admin';
import { explained, makeWorkspace, remember } from './support/workspace';

const workspace = makeWorkspace('transfer');
const running: StartedProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map(async (server) => server.stop(PATIENCE_MS)));
  workspace.remove();
});

/** What kubectl prints: the custom resource comes before its definition, and the namespace is not in it. */
const CAPTURE = `apiVersion: v1
items:
- apiVersion: example.com/v1
  kind: Widget
  metadata:
    creationTimestamp: "2024-02-03T04:05:06Z"
    finalizers:
    - example.com/hold
    name: wide
    namespace: shop
    resourceVersion: "17"
    uid: 6f5b0d4e-0000-4000-8000-000000000001
  spec:
    big: 12345678901234567
    size: 3
- apiVersion: v1
  data:
    no: "yes"
  kind: ConfigMap
  metadata:
    creationTimestamp: "2024-02-03T04:05:07Z"
    deletionGracePeriodSeconds: 0
    deletionTimestamp: "2024-02-03T05:00:00Z"
    finalizers:
    - example.com/hold
    name: owned
    namespace: shop
    ownerReferences:
    - apiVersion: example.com/v1
      kind: Widget
      name: wide
      uid: 6f5b0d4e-0000-4000-8000-000000000001
    resourceVersion: "18"
    uid: 6f5b0d4e-0000-4000-8000-000000000002
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    creationTimestamp: "2024-02-03T04:05:08Z"
    generation: 7
    name: web
    namespace: shop
    uid: 6f5b0d4e-0000-4000-8000-000000000003
  spec:
    replicas: 2
    selector:
      matchLabels: {app: web}
    template:
      metadata:
        labels: {app: web}
      spec:
        containers:
        - {name: main, image: "registry.example/app:1"}
  status:
    observedGeneration: 6
    readyReplicas: 1
    replicas: 2
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata:
    name: widgets.example.com
  spec:
    group: example.com
    names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
    scope: Namespaced
    versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
kind: List
metadata:
  resourceVersion: ""
`;

async function serve(name: string, from: string): Promise<string> {
  const kubeconfig = path.join(workspace.dir, `${name}.kubeconfig`);
  let announce: () => void = () => undefined;
  const announced = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const server = remember(
    await startProcess({
      name,
      command: process.execPath,
      args: [
        requireBuilt(path.join(repositoryRoot, 'dist', 'bin', 'orch.js')),
        'serve',
        from,
        `--kubeconfig=${kubeconfig}`,
      ],
      onLine: (line) => {
        if (line.startsWith('export KUBECONFIG=')) announce();
      },
    }),
  );
  running.push(server);
  const ended = server.exited.then(() => {
    throw new Error(server.recentLines().join('\n'));
  });
  await Promise.race([announced, ended]);
  ended.catch(() => undefined);
  return kubeconfig;
}

async function exported(kubeconfig: string, name: string): Promise<string> {
  const file = path.join(workspace.dir, name);
  const { code, stderr } = await runAdmin(
    'export',
    `--kubeconfig=${kubeconfig}`,
    `--file=${file}`,
    '--page-size=7',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return file;
}

function withoutVersions(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/"resourceVersion":"\d+",?/gu, '');
}

test(
  'a capture is served as it was, and its export is the same after an import into an empty server',
  explained(async () => {
    const capture = path.join(workspace.dir, 'capture.yaml');
    writeFileSync(capture, CAPTURE);
    const empty = path.join(workspace.dir, 'empty');
    mkdirSync(empty);
    const [first, second] = await Promise.all([serve('first', capture), serve('second', empty)]);

    const client = createClient(loadKubeconfig({ path: first }).client);
    const get = async (at: string): Promise<object> => (await client.getJson(at)) as object;
    expect(await get('/apis/apps/v1/namespaces/shop/deployments/web')).toMatchObject({
      metadata: {
        uid: '6f5b0d4e-0000-4000-8000-000000000003',
        generation: 7,
        creationTimestamp: '2024-02-03T04:05:08Z',
      },
      status: { observedGeneration: 6, readyReplicas: 1, replicas: 2 },
    });
    expect(await get('/api/v1/namespaces/shop/configmaps/owned')).toMatchObject({
      metadata: {
        deletionTimestamp: '2024-02-03T05:00:00Z',
        finalizers: ['example.com/hold'],
        ownerReferences: [{ uid: '6f5b0d4e-0000-4000-8000-000000000001' }],
      },
    });
    expect(await get('/api/v1/namespaces/shop')).toMatchObject({ status: { phase: 'Active' } });
    const patched = await client.request({
      method: 'PATCH',
      path: '/apis/example.com/v1/namespaces/shop/widgets/wide',
      contentType: 'application/merge-patch+json',
      body: '{"spec":{"size":4}}',
    });
    expect([patched.code, patched.body.toString()]).toEqual([
      200,
      expect.stringContaining('12345678901234567'),
    ]);
    client.close();

    const before = await exported(first, 'first.json');
    const imported = await runAdmin('import', `--kubeconfig=${second}`, `--file=${before}`);
    expect(imported.stderr).toBe('');
    expect(imported.stdout).toMatch(/^stored \d+ objects\n$/u);
    const after = await exported(second, 'second.json');
    expect(withoutVersions(after)).toBe(withoutVersions(before));
    expect(withoutVersions(after)).toContain('"big":12345678901234567');

    const again = await runAdmin('import', `--kubeconfig=${second}`, `--file=${before}`);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  }),
);
