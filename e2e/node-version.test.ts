import { existsSync } from 'node:fs';
import path from 'node:path';
import { caFileOf, serverUrl } from '../deploy/local/api-server';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import { patience } from '../shared/testing/eventually';
import { ApiClient } from './support/client';
import { findKubectls, runKubectl } from './support/kubectl';
import { configMap } from './support/objects';
import { Terminal } from './support/terminal';
import { makeWorkspace } from './support/workspace';

/** `npm run test:nightly -- node-versions` runs more suites, on every supported version. */
const NODE = path.join(repositoryRoot, '.tools', 'node-24', 'node_modules', 'node', 'bin', 'node');
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const run = existsSync(NODE) ? test : test.skip;

run('on Node 24 the programs start, and serve kubectl and a watch', async () => {
  const workspace = makeWorkspace('node-24');
  const port = await freePort();
  const launcher = path.join(repositoryRoot, 'deploy', 'local', 'start.mjs');
  const terminal = new Terminal(NODE, [
    launcher,
    `--port=${String(port)}`,
    `--data-dir=${workspace.dir}`,
    '--dialect=kubernetes',
  ]);
  try {
    await terminal.ready();
    const api = new ApiClient({
      server: serverUrl(port),
      caFile: caFileOf(path.join(workspace.dir, 'certs')),
      token: ensureCredentials(workspace.dir).adminToken,
    });
    const { body } = await api.get(COLLECTION);
    const from = body.metadata?.resourceVersion ?? '';
    expect((await api.create(COLLECTION, configMap('seen'))).status).toBe(201);
    for await (const { type, object } of api.watch(
      `${COLLECTION}?watch=1&resourceVersion=${from}`,
      patience(),
    )) {
      expect([type, object.metadata?.name]).toEqual(['ADDED', 'seen']);
      break;
    }
    api.close();
    const kubeconfig = path.join(workspace.dir, 'kubeconfig');
    for (const { program } of findKubectls()) {
      if (program === undefined) continue;
      const result = await runKubectl(program, ['get', 'configmap', 'seen', '-o', 'name'], {
        kubeconfig,
        home: workspace.dir,
      });
      expect(result).toMatchObject({ exitCode: 0, stdout: 'configmap/seen\n' });
    }
  } finally {
    await terminal.pressCtrlC();
    workspace.remove();
  }
});
