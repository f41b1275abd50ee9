/**
 * Pepr: `pepr init` makes its sample module, and `pepr dev` runs it beside the server. The sample mutates and refuses objects by webhooks, and
 * applies a ConfigMap when it sees a namespace. CLIENT_HOME is the folder with the package; the working directory is empty. The webhooks listen
 * on port 3000, which Pepr does not let one choose.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';

const packages = path.join(process.env.CLIENT_HOME, 'node_modules');
const pepr = path.join(packages, '.bin', 'pepr');
// `npx` would look for a newer version.
const env = { ...process.env, npm_lifecycle_event: 'npx' };
console.log(
  `version ${JSON.parse(readFileSync(path.join(packages, 'pepr', 'package.json'), 'utf8')).version}`,
);

const words = [
  'init',
  '--yes',
  '--skip-post-init',
  '--name=sample',
  '--description=sample',
  '--error-behavior=reject',
];
const scaffolded = spawnSync(pepr, [...words, '--uuid=sample'], { env, encoding: 'utf8' });
assert.equal(scaffolded.status, 0, scaffolded.stderr + scaffolded.stdout);
symlinkSync(packages, path.join('sample', 'node_modules'));

const dev = spawn(pepr, ['dev', '--host=localhost', '--yes'], { env, cwd: 'sample', detached: true });
let output = '';
for (const stream of [dev.stdout, dev.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
const exited = once(dev, 'exit');
const killAll = () => process.kill(-Number(dev.pid), 'SIGKILL');
process.once('SIGTERM', killAll);
try {
  await seen('Controller startup complete');
  await checkSample();
} catch (error) {
  console.error(output.slice(-20_000));
  throw error;
} finally {
  killAll();
  await exited;
}

async function checkSample() {
  const config = new KubeConfig();
  config.loadFromDefault();
  const core = config.makeApiClient(CoreV1Api);
  const configMap = (name, annotations) => ({
    namespace: 'pepr-demo',
    body: { metadata: { name, annotations }, data: { key: 'value' } },
  });
  const labels = { 'keep-me': 'please', 'remove-me': 'please' };
  const demo = await core.createNamespace({ body: { metadata: { name: 'pepr-demo', labels } } });
  assert.equal(demo.metadata.labels['keep-me'], 'please');
  assert.equal(demo.metadata.labels['remove-me'], undefined);
  const mutated = await core.createNamespacedConfigMap(configMap('example-2'));
  assert.equal(mutated.metadata.labels.pepr, 'was-here');
  const secret = await core.createNamespacedSecret({
    namespace: 'pepr-demo',
    body: { metadata: { name: 'secret-1' }, stringData: { example: 'text' } },
  });
  assert.equal(Buffer.from(secret.data.example, 'base64').toString(), 'text - modified by Pepr');
  console.log('checked mutation');
  await assert.rejects(core.createNamespacedConfigMap(configMap('evil', { evil: 'true' })), (error) => {
    assert.equal(error.code, 422);
    assert.match(error.body, /No evil CM annotations allowed/u);
    return true;
  });
  console.log('checked validation');
  const second = await core.createNamespace({ body: { metadata: { name: 'pepr-demo-2' } } });
  const applied = await eventually(() =>
    core.readNamespacedConfigMap({ namespace: 'pepr-demo-2', name: 'pepr-ssa-demo' }),
  );
  assert.equal(applied.data['ns-uid'], second.metadata.uid);
  console.log('checked watch\nchecked server-side apply');
}

/** Waits until Pepr has printed the text. The runner ends this process when it takes too long. */
async function seen(text) {
  while (!output.includes(text)) {
    assert.equal(dev.exitCode, null, `pepr dev ended before "${text}"`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function eventually(read) {
  for (;;) {
    const found = await read().catch((error) => (error.code === 404 ? undefined : Promise.reject(error)));
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
