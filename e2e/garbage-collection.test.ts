import type { StartedProcess } from '../deploy/local/started-process';
import type { OwnerReference } from '../shared/object/object';
import { eventually } from '../shared/testing/eventually';
import type { Body } from './support/client';
import { configMap, namespace, secret } from './support/objects';
import { sized } from './support/scale';
import { startManagerOf, suiteHaSet } from './support/suite';
import { explained } from './support/workspace';

const GRACE_MS = 5_000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
/** A killed leader keeps its Lease until it expires: short enough for the next leader, long enough for a slow machine. */
const SHORT_LEASE = [
  '--leader-elect-lease-duration=16s',
  '--leader-elect-renew-deadline=15s',
  '--leader-elect-retry-period=500ms',
];

describe('garbage collection by a controller-manager with the rights of its service accounts', () => {
  let manager: StartedProcess;

  afterAll(async () => {
    await manager?.stop(GRACE_MS);
  });
  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });
  beforeAll(
    explained(async () => {
      manager = await startManager();
      await define('Widget', WIDGETS);
    }),
  );

  async function startManager(extraArgs: readonly string[] = []): Promise<StartedProcess> {
    return startManagerOf(set, { name: 'controller-manager', extraArgs: [...SHORT_LEASE, ...extraArgs] });
  }

  async function define(kind: string, collection: string): Promise<void> {
    const singular = kind.toLowerCase();
    const plural = `${singular}s`;
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural, singular, kind, listKind: `${kind}List` },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    expect((await set.client.create(DEFINITIONS, definition)).status).toBe(201);
    await eventually(`${plural} are served`, async () => (await set.client.get(collection)).status === 200);
  }

  /** Creates an object with these owners, and returns its own owner reference. */
  async function make(
    collection: string,
    object: object,
    owners: readonly OwnerReference[] = [],
  ): Promise<OwnerReference> {
    const { metadata, ...rest } = object as Body;
    const { status, body } = await set.client.create(collection, {
      ...rest,
      metadata: { ...metadata, ownerReferences: owners },
    });
    expect([collection, metadata?.name, status]).toEqual([collection, metadata?.name, 201]);
    const { apiVersion = '', kind = '' } = body;
    return { apiVersion, kind, name: body.metadata?.name ?? '', uid: body.metadata?.uid ?? '' };
  }

  async function remove(object: string, propagationPolicy = 'Background'): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
    expect((await set.client.delete(object, options)).status).toBe(200);
  }

  const isThere = async (object: string): Promise<boolean> => (await set.client.get(object)).status === 200;
  const expectGone = async (object: string): Promise<void> =>
    eventually(`${object} is gone`, async () => !(await isThere(object)));
  const countOf = async (collection: string, label: string): Promise<number> =>
    (await set.client.get(`${collection}?labelSelector=${label}`)).body.items?.length ?? 0;

  function widget(name: string): object {
    return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } };
  }

  function labelled(name: string, of: string): object {
    return { ...configMap(name), metadata: { name, labels: { of } } };
  }

  async function makeMany(owner: OwnerReference, of: string, count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${of}-${String(index)}`);
    for (let from = 0; from < count; from += 50) {
      await Promise.all(
        names.slice(from, from + 50).map(async (name) => make(CONFIG_MAPS, labelled(name, of), [owner])),
      );
    }
  }

  test(
    'deleting an owner deletes its dependents through three levels, custom resources included',
    explained(async () => {
      const top = await make(CONFIG_MAPS, configMap('top'));
      const middle = await make(WIDGETS, widget('middle'), [top]);
      const low = await make(SECRETS, secret('low'), [middle]);
      await make(WIDGETS, widget('lowest'), [low]);
      await remove(`${CONFIG_MAPS}/top`);
      await expectGone(`${WIDGETS}/lowest`);
      expect([await isThere(`${WIDGETS}/middle`), await isThere(`${SECRETS}/low`)]).toEqual([false, false]);
    }),
  );

  test(
    'deleting a definition deletes the dependents of its custom objects',
    explained(async () => {
      await define('Gadget', GADGETS);
      const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one' } };
      const owner = await make(GADGETS, gadget);
      const passing = await make(GADGETS, { ...gadget, metadata: { name: 'passing' } });
      await make(SECRETS, secret('of-a-gadget'), [owner]);
      await make(SECRETS, secret('of-a-passing-gadget'), [passing]);
      // Once this dependent is deleted, the collector has discovered gadgets.
      await remove(`${GADGETS}/passing`);
      await expectGone(`${SECRETS}/of-a-passing-gadget`);
      await remove(`${DEFINITIONS}/gadgets.example.com`);
      await expectGone(`${SECRETS}/of-a-gadget`);
    }),
  );

  test(
    'an owner that is deleted with Orphan leaves its dependents without the reference',
    explained(async () => {
      const owner = await make(WIDGETS, widget('orphaning'));
      await make(CONFIG_MAPS, configMap('orphan'), [owner]);
      await remove(`${WIDGETS}/orphaning`, 'Orphan');
      await expectGone(`${WIDGETS}/orphaning`);
      const orphan = (await set.client.get(`${CONFIG_MAPS}/orphan`)).body;
      expect(orphan.metadata).toMatchObject({ name: 'orphan' });
      expect(orphan.metadata?.ownerReferences).toBeUndefined();
    }),
  );

  test(
    'an owner that is created again under its name has a new uid, for earlier and later dependents',
    explained(async () => {
      const before = await make(CONFIG_MAPS, configMap('again'));
      await make(SECRETS, secret('from-before'), [before]);
      await remove(`${CONFIG_MAPS}/again`);
      const after = await make(CONFIG_MAPS, configMap('again'));
      await make(SECRETS, secret('from-after'), [after]);
      await make(SECRETS, secret('too-late'), [before]);
      await expectGone(`${SECRETS}/from-before`);
      await expectGone(`${SECRETS}/too-late`);
      expect(await isThere(`${SECRETS}/from-after`)).toBe(true);
    }),
  );

  test(
    'an owner in another namespace is ignored, with an event, and its own dependents stay',
    explained(async () => {
      await set.client.create('/api/v1/namespaces', namespace('elsewhere'));
      const owner = await make(CONFIG_MAPS, configMap('here'));
      await make(SECRETS, secret('by-right'), [owner]);
      const elsewhere = '/api/v1/namespaces/elsewhere';
      await make(`${elsewhere}/secrets`, secret('by-mistake'), [owner]);
      await expectGone(`${elsewhere}/secrets/by-mistake`);
      const events = await set.client.get(
        `${elsewhere}/events?fieldSelector=reason=OwnerRefInvalidNamespace,involvedObject.name=by-mistake`,
      );
      expect(events.body.items).toHaveLength(1);
      expect(await isThere(`${SECRETS}/by-right`)).toBe(true);
      await remove(`${CONFIG_MAPS}/here`);
      await expectGone(`${SECRETS}/by-right`);
    }),
  );

  test(
    'a cluster-scoped object with a namespaced owner stays, with an event',
    explained(async () => {
      const owner = await make(CONFIG_MAPS, configMap('namespaced'));
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
      const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 1 };
      await make(classes, { ...priority, metadata: { name: 'owned' } }, [owner]);
      await remove(`${CONFIG_MAPS}/namespaced`);
      await make(SECRETS, secret('control'), [owner]);
      await expectGone(`${SECRETS}/control`);
      await eventually('the event exists', async () => {
        const query = 'fieldSelector=reason=OwnerRefInvalidNamespace,involvedObject.name=owned';
        const { body } = await set.client.get(`/api/v1/namespaces/default/events?${query}`);
        return body.items?.length === 1;
      });
      expect(await isThere(`${classes}/owned`)).toBe(true);
    }),
  );

  test(
    'dependents that lose their owner reference during the deletion stay, and all others are deleted',
    explained(async () => {
      const owner = await make(WIDGETS, widget('racing'));
      const count = sized({ full: 500, small: 100 });
      await makeMany(owner, 'race', count);
      const freed = new Set<string>();
      const deletion = remove(`${WIDGETS}/racing`);
      for (let index = 0; index < count; index += 2) {
        const name = `race-${String(index)}`;
        const { status } = await set.client.mergePatch(`${CONFIG_MAPS}/${name}`, {
          metadata: { ownerReferences: null },
        });
        expect([200, 404]).toContain(status);
        if (status === 200) freed.add(name);
      }
      await deletion;
      await eventually(
        'only the released dependents remain',
        async () => (await countOf(CONFIG_MAPS, 'of=race')) <= freed.size,
      );
      const { items = [] } = (await set.client.get(`${CONFIG_MAPS}?labelSelector=of=race`)).body;
      expect(items.map(({ metadata }) => metadata?.name ?? '').toSorted()).toEqual([...freed].toSorted());
      expect(freed.size).toBeGreaterThan(0);
    }),
  );

  test(
    'after a kill during a collection the next controller-manager finishes it',
    explained(async () => {
      const owner = await make(WIDGETS, widget('interrupted'));
      const count = sized({ full: 2_000, small: 300 });
      await makeMany(owner, 'left', count);
      await remove(`${WIDGETS}/interrupted`);
      await eventually(
        'the first dependents are deleted',
        async () => (await countOf(CONFIG_MAPS, 'of=left')) < count,
      );
      manager.signal('SIGKILL');
      await manager.exited;
      expect(await countOf(CONFIG_MAPS, 'of=left')).toBeGreaterThan(0);
      const late = await make(WIDGETS, widget('while-no-one-watches'));
      await make(SECRETS, secret('left-alone'), [late]);
      await remove(`${WIDGETS}/while-no-one-watches`);
      manager = await startManager();
      await eventually(
        'all dependents are deleted',
        async () => (await countOf(CONFIG_MAPS, 'of=left')) === 0,
      );
      await expectGone(`${SECRETS}/left-alone`);
    }),
  );

  test(
    'with --enable-garbage-collector=false the other controllers run without it',
    explained(async () => {
      await manager.stop(GRACE_MS);
      manager = await startManager(['--enable-garbage-collector=false']);
      const says = (word: string): boolean => manager.recentLines().some((line) => line.includes(word));
      await eventually('the controller-manager leads', () => Promise.resolve(says('became the leader')));
      expect([says('root-ca-cert-publisher'), says('garbagecollector')]).toEqual([true, false]);
    }),
  );
});
