import { createClient } from '../shared/client/client';
import { loadKubeconfig } from '../shared/client/kubeconfig';
import { createInformer } from '../shared/informer/informer';
import type { Informer } from '../shared/informer/informer';
import type { ConfigMap } from '../shared/api/types/core-v1';
import { eventually, patience } from '../shared/testing/eventually';
import { copyStore, emptyStore } from './robustness/faults/replace-store';
import type { StoreCopy } from './robustness/faults/replace-store';
import type { ApiClient, Body } from './support/client';
import { configMap } from './support/objects';
import { suiteHaSet } from './support/suite';
import { explained } from './support/workspace';

/** ADR 47: the behaviour of replicas when their store is replaced. */
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const FIRST_OBJECTS = [
  '/api/v1/namespaces/default',
  '/api/v1/namespaces/kube-system',
  '/api/v1/namespaces/default/services/kubernetes',
  '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin',
  '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical',
  '/apis/flowcontrol.apiserver.k8s.io/v1beta1/flowschemas/catch-all',
  '/apis/apiregistration.k8s.io/v1/apiservices/v1.',
] as const;
const RETRY = { initialMs: 50, maxMs: 1_000 };
const MANY = 40;
const TOO_OLD = { status: 410, reason: 'Expired' };

type Kind = 'an older' | 'an empty';

describe('replicas with a store that is replaced while they run', () => {
  const end = new AbortController();
  afterAll(() => {
    end.abort();
  });
  const set = suiteHaSet({
    replicas: 3,
    etcd: 3,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
    extraArgs: ['--disable-admission-plugins=ServiceAccount'],
  });
  const clients = (): readonly ApiClient[] => set.replicas.map(({ client }) => client);
  const createMany = async (prefix: string): Promise<void> => {
    for (let index = 0; index < MANY; index++) await created(set.of(0), `${prefix}-${String(index)}`);
  };

  test.each(['an older', 'an empty'] as const)(
    'by %s store report it, create the bootstrap objects again, and return no stale data',
    async (kind) => {
      await explained(async () => replaceBy(kind))();
      expect(await areAll(clients(), '/readyz')).toBe(true);
    },
  );

  async function replaceBy(kind: Kind): Promise<void> {
    await created(set.of(0), `kept-of-${kind.slice(3)}`);
    const copy: StoreCopy = await copyStore(set.etcd);
    await eventually('all replicas respond again', async () => areAll(clients(), COLLECTION));
    await createMany(kind.slice(3));

    const known = await knownOf(set.of(0));
    const pages = await Promise.all(clients().map(async (client) => client.get(`${COLLECTION}?limit=1`)));
    const informers = set.replicas.map(({ kubeconfig }) => startInformer(kubeconfig, end.signal));
    await Promise.all(informers.map(async (informer) => informer.whenSynced(patience())));
    const watches = clients().map(async (client) => endOf(client, known.version));
    const before = await Promise.all(clients().map(replacementsOf));

    await (kind === 'an older' ? copy.restore() : emptyStore(set.etcd));

    // Every watch ends with a reason.
    expect(await Promise.all(watches)).toEqual(watches.map(() => TOO_OLD));
    await eventually('all replicas are ready', async () => areAll(clients(), '/readyz'));
    for (const first of FIRST_OBJECTS) {
      await eventually(`${first} exists`, async () => areAll(clients(), first));
    }
    await Promise.all(
      set.replicas.map(async (replica, index) => {
        expect(await replacementsOf(replica.client)).toBeGreaterThan(before[index] ?? 0);
        expect(replica.process().recentLines().join('\n')).toContain(
          'the store was replaced by another or an older one',
        );
      }),
    );
    expect((await set.of(1).get(`${COLLECTION}/kept-of-older`)).status).toBe(kind === 'an older' ? 200 : 404);

    // This holds also when the new store has a higher revision than the old one.
    await createMany('new');
    await createMany('newer');
    const changed = await created(set.of(0), known.name);
    for (const [index, client] of clients().entries()) {
      expect(await endOf(client, known.version)).toEqual(TOO_OLD);
      const exactly = `${COLLECTION}?resourceVersionMatch=Exact&resourceVersion=${known.version}`;
      expect(resultOf(await client.get(exactly))).toEqual(TOO_OLD);
      const token = pages[index]?.body.metadata?.continue ?? '';
      expect(resultOf(await client.get(`${COLLECTION}?limit=1&continue=${token}`))).toEqual(TOO_OLD);
      const update = await client.update(`${COLLECTION}/${known.name}`, known.object);
      expect(resultOf(update)).toEqual({ status: 409, reason: 'Conflict' });
      const preconditions = { resourceVersion: known.version };
      const removal = await client.delete(`${COLLECTION}/${known.name}`, { preconditions });
      expect(resultOf(removal)).toEqual({ status: 409, reason: 'Conflict' });
    }
    const { items = [] } = (await set.of(2).get(COLLECTION)).body;
    expect(items.every(({ metadata }) => Number(metadata?.resourceVersion) > Number(known.version))).toBe(
      true,
    );
    expect(items.map(textOf)).toContain(textOf(changed));
    for (const informer of informers) {
      await eventually('the informer equals the store', async () => {
        const held = informer.store.list().map((object) => textOf(object));
        return Promise.resolve(held.sort().join() === items.map(textOf).sort().join());
      });
    }
  }
});

async function created(client: ApiClient, name: string): Promise<Body> {
  const { status, body } = await client.create(COLLECTION, configMap(name));
  if (status !== 201) throw new Error(`${name} was not created: ${JSON.stringify(body)}`);
  return body;
}

/** Creates an object; returns it with its version, which is the newest of the store. */
async function knownOf(
  client: ApiClient,
): Promise<{ readonly name: string; readonly version: string; readonly object: Body }> {
  const name = `known-${String(Date.now())}`;
  const object = await created(client, name);
  return { name, version: object.metadata?.resourceVersion ?? '', object };
}

async function areAll(clients: readonly ApiClient[], path: string): Promise<boolean> {
  const answers = await Promise.all(clients.map(async (client) => client.get(path).catch(() => undefined)));
  return answers.every((answer) => answer?.status === 200);
}

function resultOf({ status, body }: { readonly status: number; readonly body: Body }): object {
  return { status, reason: body.reason };
}

/** The status that ends a watch from this version; the watch must deliver no object before. */
async function endOf(client: ApiClient, version: string): Promise<object> {
  const path = `${COLLECTION}?watch=true&resourceVersion=${version}`;
  for await (const { type, object } of client.watch(path, patience())) {
    if (type === 'ERROR') return { status: object.code, reason: object.reason };
    return { type, object };
  }
  return { ended: 'without a word' };
}

async function replacementsOf(client: ApiClient): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(/^apiserver_store_replacements_total (\d+)$/m.exec(text)?.[1]);
}

function startInformer(kubeconfig: string, signal: AbortSignal): Informer<ConfigMap> {
  const informer = createInformer<ConfigMap>({
    client: createClient(loadKubeconfig({ path: kubeconfig }).client),
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'default',
    retry: RETRY,
  });
  void informer.run(signal);
  return informer;
}

function textOf({ metadata }: Pick<Body, 'metadata'>): string {
  return `${metadata?.name ?? ''}@${metadata?.resourceVersion ?? ''}`;
}
