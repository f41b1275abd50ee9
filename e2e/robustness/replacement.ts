import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import { eventually, patience } from '../../shared/testing/eventually';
import type { ConfigMap } from '../../shared/api/types/core-v1';
import { pathOf, VIEWS } from '../list-watch/chaos/views';
import type { ApiClient } from '../support/client';
import { configMap, namespace } from '../support/objects';
import { answered } from './answered';
import type { Finding } from './checks/finding';
import { readAll } from './record/begin-history';
import type { Rig } from './rig';

/** Clients that survive the replacement of the store: an informer and a watch through each replica. */
export interface Survivors {
  /** Call it after the replacement. Returns the violations of replicas and surviving clients. */
  check(): Promise<readonly Finding[]>;
  stop(): void;
}

const [VIEW] = VIEWS;
const RETRY = { initialMs: 50, maxMs: 1_000 };
/** An object that every cluster has from its first start. */
const FIRST_OBJECTS = [
  '/api/v1/namespaces/default',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin',
  '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical',
] as const;
const OTHER_NAMESPACE = 'after-replacement';

/** Starts them on the current store; resolves when all are up to date. */
export async function startSurvivors(rig: Rig): Promise<Survivors> {
  const end = new AbortController();
  const informers = rig.set.replicas.map(({ kubeconfig }) => startInformer(kubeconfig, end.signal));
  await Promise.all(informers.map(async (each) => each.whenSynced(patience())));
  const watches = await Promise.all(
    rig.set.replicas.map(async ({ name, client }) => startWatch(name, client, end.signal)),
  );
  return {
    async check() {
      const ended = await Promise.all(watches.map(async (each) => each.findings()));
      const equal = await Promise.all(
        rig.set.replicas.map(async ({ name }, index) => checkReplica(rig, name, index, informers[index])),
      );
      return [...ended, ...equal].flat();
    },
    stop: () => {
      end.abort();
    },
  };
}

function startInformer(kubeconfig: string, signal: AbortSignal): Informer<ConfigMap> {
  const informer = createInformer<ConfigMap>({
    client: createClient(loadKubeconfig({ path: kubeconfig }).client),
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    retry: RETRY,
  });
  void informer.run(signal);
  return informer;
}

interface WatchedOver {
  /** Waits for the end of the stream. */
  findings(): Promise<readonly Finding[]>;
}

/** Versions that are further apart belong to different stores. */
const VERSIONS_BETWEEN_MAX = 500_000;

/** A stream on the old store may end with 410 or break. It may neither stay open nor send decreasing versions. */
async function startWatch(name: string, client: ApiClient, signal: AbortSignal): Promise<WatchedOver> {
  const path = pathOf({ group: '', version: 'v1', resource: 'configmaps' }, undefined);
  const { body } = await answered(path, async () => client.get(path));
  const from = Number(body.metadata?.resourceVersion);
  const findings: Finding[] = [];
  let isOver = false;
  const read = async (): Promise<void> => {
    let last = from;
    for await (const { type, object } of client.watch(
      `${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${String(from)}`,
      signal,
    )) {
      if (type === 'ERROR') return;
      const version = Number(object.metadata?.resourceVersion);
      if (version < last || version - last > VERSIONS_BETWEEN_MAX) {
        const text = `a watch through ${name} went from version ${String(last)} to ${String(version)}, with no 410 between`;
        findings.push({ check: 'store replaced', text });
      }
      last = version;
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  return {
    findings: async () => {
      try {
        await eventually('the watch has ended', async () => Promise.resolve(isOver));
      } catch {
        const text = `a watch through ${name} goes on although the store is another one`;
        findings.push({ check: 'store replaced', text });
      }
      return findings;
    },
  };
}

/** The replica reads and writes the new store, and its informer has the content of that store. */
async function checkReplica(
  { set }: Rig,
  name: string,
  index: number,
  informer: Informer<ConfigMap> | undefined,
): Promise<readonly Finding[]> {
  if (VIEW === undefined) throw new Error('There is no view to compare.');
  const client = set.of(index);
  const path = pathOf(VIEW, undefined);
  const stored = async (): Promise<string> => {
    const { before } = await readAll(set.etcd);
    const objects = before.filter(({ resource }) => resource === VIEW.resource);
    return textOf(objects.map(({ key, revision }) => `${key}@${String(revision)}`));
  };
  let shown = '';
  try {
    await eventually('writes are taken', async () => {
      const made = await client
        .create('/api/v1/namespaces', namespace(OTHER_NAMESPACE))
        .catch(() => undefined);
      return made?.status === 201 || made?.status === 409;
    });
    await eventually('a write is taken', async () => {
      const collection = `/api/v1/namespaces/${OTHER_NAMESPACE}/configmaps`;
      const made = await client.create(collection, configMap(`of-${name}`)).catch(() => undefined);
      return made?.status === 201 || made?.status === 409;
    });
    await eventually('the list is that of the store', async () => {
      const answer = await client.get(path).catch(() => undefined);
      const keys = (answer?.body.items ?? []).map(({ metadata }) => keyOf(metadata ?? {}));
      shown = textOf(keys);
      return answer?.status === 200 && shown === (await stored());
    });
    await eventually('the first objects are there', async () => {
      const found = await Promise.all(
        FIRST_OBJECTS.map(async (first) => client.get(first).catch(() => undefined)),
      );
      return found.every((answer) => answer?.status === 200);
    });
    await eventually('the informer holds what is in the store', async () => {
      shown = textOf((informer?.store.list() ?? []).map(({ metadata }) => keyOf(metadata)));
      return shown === (await stored());
    });
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `${name}, after the store was replaced: ${why}; it shows ${shown}; the store has ${await stored()}`;
    return [{ check: 'store replaced', text }];
  }
}

function keyOf({
  namespace: scope = '',
  name = '',
  resourceVersion = '',
}: {
  readonly namespace?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
}): string {
  return `${scope}/${name}@${resourceVersion}`;
}

function textOf(keys: readonly string[]): string {
  return [...keys].sort().join(' ');
}
