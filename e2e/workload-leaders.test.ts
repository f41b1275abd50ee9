import type { StartedProcess } from '../deploy/local/started-process';
import { eventually } from '../shared/testing/eventually';
import { follow } from './support/follow';
import { startManagerOf, suiteHaSet } from './support/suite';
import { explained } from './support/workspace';

const GRACE_MS = 5_000;
const PODS = '/api/v1/namespaces/default/pods';
const APPS = '/apis/apps/v1/namespaces/default';
const SHORT_LEASE = [
  '--leader-elect-lease-duration=12s',
  '--leader-elect-renew-deadline=10s',
  '--leader-elect-retry-period=500ms',
];
const REPLICAS = 100;
const ROUNDS = 4;
const SURGE = REPLICAS / 10;
const UNAVAILABLE = REPLICAS / 20;

/** What the watch of all pods has shown of one pod. */
interface SeenPod {
  readonly name: string;
  readonly image: string;
  readonly isReady: boolean;
  readonly isLeaving: boolean;
}

interface PodObject {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly deletionTimestamp?: string };
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

describe('two controller managers whose leader is killed and frozen while a Deployment and a StatefulSet are rolled out', () => {
  const managers: (StartedProcess | undefined)[] = [undefined, undefined];
  let leader = -1;
  const stop = new AbortController();
  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });
  afterAll(async () => {
    stop.abort();
    for (const manager of managers) manager?.signal('SIGCONT');
    await Promise.all(managers.map(async (manager) => manager?.stop(GRACE_MS)));
  });

  async function start(index: number): Promise<void> {
    managers[index] = await startManagerOf(set, {
      name: `controller-manager-${String(index)}`,
      extraArgs: SHORT_LEASE,
      onLine: (line) => {
        if (line.includes('became the leader')) leader = index;
      },
    });
    // As its service manager does: also a leader that lost its lease on a slow machine ends.
    void managers[index]?.exited.then(async () => (stop.signal.aborted ? undefined : start(index)));
  }

  /** By uid. */
  const seen = new Map<string, SeenPod>();
  const created = new Map<string, number>();
  const violations: string[] = [];
  let isUp = false;

  /** Checks the promises of the Deployment after each change of a pod, in the order of the store. */
  function note(type: string, object: PodObject): void {
    const { uid = '', name = '', deletionTimestamp } = object.metadata ?? {};
    const image = object.spec?.containers?.[0]?.image ?? '';
    const isReady =
      object.status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
    if (type === 'ADDED') {
      const key = name.startsWith('db-') ? `${name} ${image}` : image;
      created.set(key, (created.get(key) ?? 0) + 1);
    }
    if (type === 'DELETED') seen.delete(uid);
    else seen.set(uid, { name, image, isReady, isLeaving: deletionTimestamp !== undefined });
    const web = [...seen.values()].filter((pod) => pod.name.startsWith('web-') && !pod.isLeaving);
    const available = web.filter((pod) => pod.isReady).length;
    if (web.length > REPLICAS + SURGE) violations.push(`${String(web.length)} pods`);
    if (isUp && available < REPLICAS - UNAVAILABLE) violations.push(`${String(available)} available`);
    isUp ||= available === REPLICAS;
  }

  /** Makes pods ready as nodes would, one part at a time. */
  async function playNodes(): Promise<void> {
    while (!stop.signal.aborted) {
      const waiting = [...seen.values()].filter((pod) => !pod.isReady && !pod.isLeaving).slice(0, 16);
      await Promise.all(
        waiting.map(async ({ name }) =>
          set.client.mergePatch(`${PODS}/${name}/status`, {
            status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
          }),
        ),
      ).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function isRolledOut(version: number): Promise<boolean> {
    const { body } = await set.client.get(`${APPS}/deployments/web`);
    const { body: db } = await set.client.get(`${APPS}/statefulsets/db`);
    const image = imageOf(version);
    const pods = [...seen.values()].filter((pod) => !pod.isLeaving);
    return (
      [body, db].every(
        ({ status, metadata }) =>
          (status as { readonly observedGeneration?: number } | undefined)?.observedGeneration ===
          metadata?.generation,
      ) &&
      pods.length === REPLICAS + 3 &&
      pods.every((pod) => pod.image === image && pod.isReady)
    );
  }

  const imageOf = (version: number): string => `web:${String(version)}`;
  const templateOf = (app: string, version: number) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'c', image: imageOf(version) }] },
  });

  test(
    'there are never more pods than the surge allows, nor fewer available than promised, and none is created twice',
    explained(async () => {
      await start(0);
      await eventually('a leader', () => leader === 0);
      await start(1);
      const { body } = await set.client.get(PODS);
      const watching = follow(
        {
          clients: [set.client],
          path: PODS,
          from: String(body.metadata?.resourceVersion),
          onEvent: ({ type, object }) => note(type, object as PodObject),
        },
        stop.signal,
      );
      watching.catch((error: unknown) => violations.push(String(error)));
      const playing = playNodes();
      const strategy = {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: SURGE, maxUnavailable: UNAVAILABLE },
      };
      const specOf = (app: string) => ({
        selector: { matchLabels: { app } },
        template: templateOf(app, 1),
      });
      const web = { metadata: { name: 'web' }, spec: { ...specOf('web'), replicas: REPLICAS, strategy } };
      const db = { metadata: { name: 'db' }, spec: { ...specOf('db'), replicas: 3, serviceName: 'db' } };
      expect((await set.client.create(`${APPS}/deployments`, web)).status).toBe(201);
      expect((await set.client.create(`${APPS}/statefulsets`, db)).status).toBe(201);
      await eventually('all pods are ready', async () => isRolledOut(1));
      for (let round = 0; round < ROUNDS; round += 1) {
        const version = round + 2;
        for (const [resource, app] of [
          ['deployments', 'web'],
          ['statefulsets', 'db'],
        ] as const)
          await set.client.mergePatch(`${APPS}/${resource}/${app}`, {
            spec: { template: templateOf(app, version) },
          });
        await eventually('the rollout has begun', () => (created.get(imageOf(version)) ?? 0) >= REPLICAS / 5);
        const led = leader;
        const manager = managers[led];
        if (round % 2 === 0) {
          manager?.signal('SIGSTOP');
          await eventually('another leader', () => leader !== led);
          manager?.signal('SIGCONT');
        } else {
          manager?.signal('SIGKILL');
          await eventually('another leader', () => leader !== led);
        }
        await eventually('the rollout is complete', async () => isRolledOut(version));
        expect(violations).toEqual([]);
        expect(created.get(imageOf(version))).toBe(REPLICAS);
        for (const ordinal of [0, 1, 2])
          expect(created.get(`db-${String(ordinal)} ${imageOf(version)}`)).toBe(1);
      }
      stop.abort();
      await Promise.allSettled([watching, playing]);
    }),
  );
});
