import path from 'node:path';
import { Etcd3 } from 'etcd3';
import { ensureCredentials } from '../deploy/local/credentials';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { repositoryRoot } from '../deploy/local/repository';
import { eventually } from '../shared/testing/eventually';
import type { ApiClient, Body } from './support/client';
import { findKubectls, runKubectl } from './support/kubectl';
import { olderBuild } from './support/older-build';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import type { RollingLoad } from './support/rolling-load';
import { LOAD_NAMESPACE, startRollingLoad } from './support/rolling-load';
import { explained, makeWorkspace } from './support/workspace';

/** The guarantees of deploy/UPGRADING.md for replicas of two versions on one store. */
const EXAMPLES = path.join(repositoryRoot, 'e2e', 'examples');
const KUBECTL = findKubectls().find(({ program }) => program !== undefined)?.program;
const RESOURCES_MIN = 50;
const OBJECT_KEY = /^\/registry\/[^/]+\/[^/]+\/(?!load\/)/u;

const older = olderBuild();

describe(`replicas of this version together with an older one (${older.title})`, () => {
  const workspace = makeWorkspace('versions');
  const replicas: Replica[] = [];
  let etcd: EtcdCluster | undefined;
  let load: RollingLoad | undefined;

  beforeAll(
    explained(async () => {
      etcd = await startEtcdCluster({ size: 1, dataDir: path.join(workspace.dir, 'etcd') });
      const { endpoints } = etcd;
      for (const name of ['first', 'second']) {
        replicas.push(
          await startReplica({
            name,
            dialect: 'kubernetes',
            storage: { kind: 'etcd', endpoints },
            dir: workspace.dir,
            credentials: ensureCredentials(workspace.dir),
            // The older build may have no other version.
            http: '1.1',
            shutdownDelay: '1s',
            extraArgs: ['--disable-admission-plugins=ServiceAccount'],
            buildRoot: older.root,
          }),
        );
      }
    }),
  );

  afterAll(async () => {
    await load?.cancel();
    for (const replica of replicas) await replica.stop();
    await etcd?.stop();
    workspace.remove();
  });

  test(
    'are rolled forwards and back under load without a lost write or event, and return equal lists',
    explained(async () => {
      const [first, second] = replicas;
      if (first === undefined || second === undefined) throw new Error('There are no replicas.');
      await kubectl(first, 'create', '-f', EXAMPLES);
      const forms = await storedForms();
      load = await startRollingLoad(replicas.map(({ client }) => client));

      await first.exchange({ buildRoot: undefined });
      await expectSame(first.client, second.client);
      // Both versions can read the objects that either of them stores.
      await kubectl(first, 'annotate', '-f', EXAMPLES, 'touched=by-the-newer', '--overwrite');
      await expectSame(first.client, second.client);
      expect(await storedForms()).toMatchObject(forms);
      await kubectl(second, 'annotate', '-f', EXAMPLES, 'touched=by-the-older', '--overwrite');
      await expectSame(first.client, second.client);
      await second.exchange({ buildRoot: undefined });
      await kubectl(second, 'annotate', '-f', EXAMPLES, 'touched=by-the-newer-alone', '--overwrite');

      await first.exchange({ buildRoot: older.root });
      await expectSame(first.client, second.client);
      await second.exchange({ buildRoot: older.root });
      await expectSame(first.client, second.client);
      expect(await storedForms()).toMatchObject(forms);
      await load.stop();
    }),
  );

  async function kubectl(replica: Replica, ...args: readonly string[]): Promise<void> {
    if (KUBECTL === undefined) throw new Error('There is no kubectl.');
    const { kubeconfig } = replica;
    const result = await runKubectl(KUBECTL, args, { kubeconfig, home: workspace.dir });
    if (result.exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${result.stderr}`);
  }

  /** The API version of each stored object. */
  async function storedForms(): Promise<Readonly<Record<string, string>>> {
    const client = new Etcd3({ hosts: [...(etcd?.endpoints ?? [])] });
    try {
      const values = await client.getAll().prefix('/registry/').strings();
      // Keys directly below the prefix are not objects.
      const objects = Object.entries(values).filter(([key]) => OBJECT_KEY.test(key));
      return Object.fromEntries(objects.map(([key, value]) => [key, formOf(value)]));
    } finally {
      client.close();
    }
  }
});

function formOf(value: string): string {
  const { apiVersion = '', kind = '' } = JSON.parse(value) as Body;
  return `${apiVersion} ${kind}`;
}

/** Checks that every list that both serve is equal, in every version. */
async function expectSame(one: ApiClient, other: ApiClient): Promise<void> {
  const shared = new Set(await listsOf(other));
  const lists = (await listsOf(one)).filter((list) => shared.has(list));
  expect(lists.length).toBeGreaterThan(RESOURCES_MIN);
  for (const list of lists) {
    await eventually(`${list} is equal on both`, async () => {
      const [a, b] = await Promise.all([one.get(list), other.get(list)]);
      return a.status === 200 && settledItems(a.body) === settledItems(b.body);
    });
  }
}

/** The paths of all stored collections in all versions. */
async function listsOf(client: ApiClient): Promise<readonly string[]> {
  const groups = (await client.get('/apis')).body as { readonly groups?: readonly Group[] };
  const versions = (groups.groups ?? []).flatMap(({ versions: all }) =>
    all.map((each) => `/apis/${each.groupVersion}`),
  );
  const lists: string[] = [];
  for (const root of ['/api/v1', ...versions]) {
    const { resources = [] } = (await client.get(root)).body as { readonly resources?: readonly Resource[] };
    for (const { name, verbs } of resources) {
      if (verbs.includes('list') && verbs.includes('watch')) lists.push(`${root}/${name}`);
    }
  }
  return lists;
}

/** Removes the objects that the load writes meanwhile. */
function settledItems({ items = [] }: Body): string {
  return JSON.stringify(items.filter(({ metadata }) => metadata?.namespace !== LOAD_NAMESPACE));
}

interface Group {
  readonly versions: readonly { readonly groupVersion: string }[];
}

interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}
