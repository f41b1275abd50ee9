import type { StartedProcess } from '../deploy/local/started-process';
import { eventually } from '../shared/testing/eventually';
import { NAMES } from './support/dialect';
import { configMap, deployment, namespace, pod, secret, service } from './support/objects';
import { sized } from './support/scale';
import { suiteHaSet } from './support/suite';
import { explained } from './support/workspace';

describe('namespaces on two replicas with two controller-managers', () => {
  const set = suiteHaSet({
    replicas: 2,
    etcd: 1,
    balancer: true,
    controllerManagers: 2,
    dialect: 'orch',
  });

  async function makeNamespace(name: string): Promise<string> {
    const created = await set.of(0).create('/api/v1/namespaces', namespace(name));
    expect(created.status).toBe(201);
    return `/api/v1/namespaces/${name}`;
  }

  async function isGone(path: string): Promise<boolean> {
    return (await set.client.get(path)).status === 404;
  }

  test(
    'a namespace created on one replica is usable on the other at once',
    explained(async () => {
      for (let round = 0; round < sized({ full: 300, small: 40 }); round++) {
        const name = `at-once-${String(round)}`;
        const made = await set.of(round % 2).create('/api/v1/namespaces', namespace(name));
        const used = await set
          .of((round + 1) % 2)
          .create(`/api/v1/namespaces/${name}/configmaps`, configMap('first'));
        expect([made.status, used.status]).toEqual([201, 201]);
      }
    }),
  );

  test('an object in a namespace that does not exist is refused with 404', async () => {
    const answer = await set.client.create('/api/v1/namespaces/nowhere/configmaps', configMap('lost'));
    expect(answer.body).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
      details: { kind: 'namespaces', name: 'nowhere' },
    });
  });

  test.each(['default', NAMES.orch.systemNamespace, NAMES.orch.publicNamespace])(
    'the namespace %s cannot be deleted',
    async (name) => {
      const answer = await set.client.delete(`/api/v1/namespaces/${name}`);
      expect(answer.body).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect((await set.client.get(`/api/v1/namespaces/${name}`)).body.status).toEqual({ phase: 'Active' });
    },
  );

  test(
    'a terminating namespace rejects creates on every replica, and disappears with its last object',
    explained(async () => {
      const path = await makeNamespace('held');
      const held = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', finalizers: ['example.com/hold'] },
      };
      expect((await set.of(0).create(`${path}/configmaps`, held)).status).toBe(201);

      const deleted = await set.of(0).delete(path);
      expect(deleted.status).toBe(200);
      for (const replica of [0, 1]) {
        const refused = await set.of(replica).create(`${path}/configmaps`, configMap('late'));
        expect(refused.body).toMatchObject({ code: 403, reason: 'Forbidden' });
        expect(refused.body.details?.causes?.map((cause) => cause.reason)).toContain('NamespaceTerminating');
      }
      await eventually(
        'the held object is being deleted',
        async () =>
          (await set.client.get(`${path}/configmaps/held`)).body.metadata?.deletionTimestamp !== undefined,
      );
      expect((await set.of(1).get(path)).body.status).toMatchObject({ phase: 'Terminating' });

      await set.of(1).mergePatch(`${path}/configmaps/held`, { metadata: { finalizers: null } });
      await eventually('the namespace is gone', () => isGone(path));
    }),
  );

  test(
    'objects of every kind are deleted with their namespace',
    explained(async () => {
      const path = await makeNamespace('full');
      const deployments = '/apis/apps/v1/namespaces/full/deployments';
      const objects: readonly (readonly [string, object])[] = [
        [`${path}/configmaps`, configMap('one')],
        [`${path}/secrets`, secret('one')],
        [`${path}/pods`, pod('one')],
        [`${path}/services`, service('one')],
        [deployments, deployment('one')],
      ];
      for (const [collection, object] of objects) {
        expect([collection, (await set.client.create(collection, object)).status]).toEqual([collection, 201]);
      }
      await set.client.delete(path);
      await eventually('the namespace is gone', () => isGone(path));
      for (const [collection] of objects) expect((await set.client.get(collection)).body.items).toEqual([]);
    }),
  );

  test.each(['Orphan', 'Foreground'])(
    'an object deleted with propagationPolicy %s does not wait for ever',
    async (propagationPolicy) => {
      const name = propagationPolicy.toLowerCase();
      const deployments = '/apis/apps/v1/namespaces/default/deployments';
      expect((await set.client.create(deployments, deployment(name))).status).toBe(201);
      await set.client.delete(`${deployments}/${name}`, {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy,
      });
      await eventually('the object is gone', () => isGone(`${deployments}/${name}`));
    },
  );

  test(
    'when the leading controller-manager is killed, the other one takes over',
    explained(async () => {
      const leader = await leadingControllerManager();
      leader.signal('SIGKILL');
      await leader.exited;
      const path = await makeNamespace('after-the-kill');
      expect((await set.client.create(`${path}/configmaps`, configMap('one'))).status).toBe(201);
      await set.client.delete(path);
      await eventually('the namespace is gone', () => isGone(path));
    }),
  );

  /** Finds the leading process: a program logs its own identity, and the Lease names the identity of the leader. */
  async function leadingControllerManager(): Promise<StartedProcess> {
    const lease = await set.client.get(
      `/apis/coordination.orch/v1/namespaces/${NAMES.orch.systemNamespace}/leases/controller-manager`,
    );
    const holder = String(lease.body.spec?.['holderIdentity']);
    const programs = set.controllerManagers.map((each) => each.process());
    const leader = programs.find((program) =>
      program.recentLines().some((line) => line.includes('became the leader') && line.includes(holder)),
    );
    if (leader === undefined) throw new Error(`no controller-manager has the identity ${holder}`);
    return leader;
  }
});
