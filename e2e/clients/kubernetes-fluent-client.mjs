/** kubernetes-fluent-client: apply, get, patch, watch and delete by its fluent API. CLIENT_HOME is the folder with its package. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const folder = path.join(process.env.CLIENT_HOME, 'node_modules', 'kubernetes-fluent-client');
const { version, main } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
const { K8s, kind } = await import(pathToFileURL(path.join(folder, main)).href);
console.log(`version ${version}`);

const namespace = 'fluent';
const configMaps = () => K8s(kind.ConfigMap).InNamespace(namespace);
await K8s(kind.Namespace).Apply({ metadata: { name: namespace } });
const applied = await K8s(kind.ConfigMap).Apply({
  metadata: { name: 'a', namespace, labels: { made: 'here' } },
  data: { key: 'one' },
});
assert.equal(applied.data.key, 'one');
assert.equal((await configMaps().Get('a')).metadata.uid, applied.metadata.uid);
await assert.rejects(K8s(kind.ConfigMap).Create({ metadata: { name: 'a', namespace } }), { status: 409 });
console.log('checked server-side apply');

const phases = [];
const watcher = configMaps()
  .WithLabel('made', 'here')
  .Watch((_configMap, phase) => phases.push(phase));
await watcher.start();
await K8s(kind.ConfigMap, { name: 'a', namespace }).Patch([
  { op: 'replace', path: '/data/key', value: 'two' },
]);
await K8s(kind.Deployment).Apply({
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
});
await K8s(kind.Deployment, { name: 'web', namespace }).Scale(3);
assert.equal((await K8s(kind.Deployment).InNamespace(namespace).Get('web')).spec.replicas, 3);
console.log('checked JSON patch\nchecked scale');

await configMaps().Delete('a');
while (!phases.includes('DELETED')) await new Promise((resolve) => setTimeout(resolve, 50));
watcher.close();
assert.deepEqual(phases, ['ADDED', 'MODIFIED', 'DELETED']);
console.log('checked watch');
process.exit(0);
