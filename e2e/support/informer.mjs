/**
 * A user program with @kubernetes/client-node: it lists, watches and runs an informer on the configmaps of one
 * namespace, and prints the events as lines of JSON. Arguments: kubeconfig, namespace. It ends on SIGTERM.
 */
import process from 'node:process';
import { CoreV1Api, KubeConfig, makeInformer, Watch } from '@kubernetes/client-node';

const [kubeconfig, namespace] = process.argv.slice(2);
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const RECONNECT_DELAY_MS = 100;

const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(CoreV1Api);

const say = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const summary = (object) => [object.metadata.name, object.metadata.resourceVersion];

const list = await core.listNamespacedConfigMap({ namespace });
say({ from: 'list', items: list.items.map(summary) });

watchFrom(list.metadata.resourceVersion);
await startInformer();

/** Resumes from the last version seen after any end of the watch. */
function watchFrom(start) {
  let resourceVersion = start;
  const watch = new Watch(config);
  const connect = () => {
    watch
      .watch(
        path,
        { resourceVersion },
        (type, object) => {
          if (object.metadata?.resourceVersion) resourceVersion = object.metadata.resourceVersion;
          say({ from: 'watch', type, object: type === 'ERROR' ? object : summary(object) });
        },
        () => setTimeout(connect, RECONNECT_DELAY_MS),
      )
      .catch((error) => say({ from: 'watch', failed: String(error) }));
  };
  connect();
}

async function startInformer() {
  const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
  for (const type of ['add', 'update', 'delete']) {
    informer.on(type, (object) => say({ from: 'informer', type, object: summary(object) }));
  }
  const restart = () => {
    setTimeout(() => {
      informer.start().catch(restart);
    }, RECONNECT_DELAY_MS);
  };
  informer.on('error', restart);
  await informer.start();
  say({ from: 'informer', type: 'started' });
}
