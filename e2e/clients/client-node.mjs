/** @kubernetes/client-node: informer, watch, server-side apply with a conflict, and leader election on a Lease. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import process from 'node:process';
import {
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  Watch,
} from '@kubernetes/client-node';

const { version } = createRequire(import.meta.url)('@kubernetes/client-node/package.json');
console.log(`version ${version}`);
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const namespace = 'client-node';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
/** A controller-manager puts a ConfigMap of its own into every namespace. */
const labels = { made: 'here' };
const labelSelector = 'made=here';
await core.createNamespace({ body: { metadata: { name: namespace } } });

await checkInformerAndWatch();
await checkApply();
if (process.env.ORCH_DIALECT === 'kubernetes') await checkLeaderElection();

async function checkInformerAndWatch() {
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });
  const before = await list();
  const informer = makeInformer(config, path, list, labelSelector);
  const added = new Promise((resolve) => informer.on('add', resolve));
  const deleted = new Promise((resolve) => informer.on('delete', resolve));
  await informer.start();
  const types = [];
  const watched = new Promise((resolve, reject) => {
    new Watch(config)
      .watch(
        path,
        { resourceVersion: before.metadata.resourceVersion, labelSelector },
        (type) => {
          types.push(type);
          if (type === 'DELETED') resolve();
        },
        reject,
      )
      .then((controller) => watched.finally(() => controller.abort()), reject);
  });
  await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: 'a', labels }, data: { key: 'one' } },
  });
  await core.patchNamespacedConfigMap(
    { namespace, name: 'a', body: { data: { key: 'two' } } },
    setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
  );
  assert.equal((await added).metadata.name, 'a');
  await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
  await Promise.all([deleted, watched]);
  await informer.stop();
  assert.deepEqual(types, ['ADDED', 'MODIFIED', 'DELETED']);
  console.log('checked informer\nchecked watch');
}

async function checkApply() {
  const apply = (fieldManager, data) =>
    core.patchNamespacedConfigMap(
      {
        namespace,
        name: 'applied',
        fieldManager,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data },
      },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    );
  const first = await apply('one', { key: 'one' });
  const same = await apply('one', { key: 'one' });
  assert.equal(same.metadata.resourceVersion, first.metadata.resourceVersion);
  await assert.rejects(apply('two', { key: 'two' }), { code: 409 });
  console.log('checked server-side apply');
}

/** Two candidates for one Lease: the second one cannot take it, and takes it once the first one has released it. */
async function checkLeaderElection() {
  const leases = config.makeApiClient(CoordinationV1Api);
  const hold = (lease, holderIdentity) => ({
    ...lease,
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new V1MicroTime(Date.now()) },
  });
  const metadata = { name: 'leader', namespace };
  const won = await leases.createNamespacedLease({ namespace, body: hold({ metadata }, 'one') });
  await assert.rejects(leases.createNamespacedLease({ namespace, body: hold({ metadata }, 'two') }), {
    code: 409,
  });
  const replace = (body) => leases.replaceNamespacedLease({ namespace, name: 'leader', body });
  await replace(hold(won, 'one'));
  await assert.rejects(replace(hold(won, 'two')), { code: 409 });
  const released = await leases.readNamespacedLease({ namespace, name: 'leader' });
  assert.equal(released.spec.holderIdentity, 'one');
  assert.equal((await replace(hold(released, 'two'))).spec.holderIdentity, 'two');
  console.log('checked leader election');
}
