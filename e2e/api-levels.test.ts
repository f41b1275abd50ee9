import path from 'node:path';
import { ensureCredentials } from '../deploy/local/credentials';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import type { Body } from './support/client';
import { namespace } from './support/objects';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import type { RollingLoad } from './support/rolling-load';
import { startRollingLoad } from './support/rolling-load';
import { explained, makeWorkspace } from './support/workspace';

/** Replicas move between API levels on one store, and lose nothing (ADR 64, ADR 83). */
const OLD = ['--api-level=1.21'];
const NEW = ['--api-level=1.36'];
const NAMESPACE = 'levels';

interface Sample {
  /** Its collection at the newer level, and at the older one if that serves the kind. */
  readonly collection: string;
  readonly older?: string;
  readonly object: Body & { readonly metadata: { readonly name: string } };
}

const CONTAINER = { name: 'main', image: 'registry.example/app:1' };

/** Each has fields, or is of a kind or version, that v1.21 does not know. */
const SAMPLES: readonly Sample[] = [
  {
    collection: `/apis/autoscaling/v2/namespaces/${NAMESPACE}/horizontalpodautoscalers`,
    older: `/apis/autoscaling/v1/namespaces/${NAMESPACE}/horizontalpodautoscalers`,
    object: {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'scaled' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 5,
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'cpu',
              container: 'main',
              target: { type: 'Utilization', averageUtilization: 50 },
            },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 30 } },
      },
    },
  },
  {
    collection: `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`,
    older: `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`,
    object: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'database' },
      spec: {
        serviceName: 'database',
        ordinals: { start: 3 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        selector: { matchLabels: { app: 'database' } },
        template: {
          metadata: { labels: { app: 'database' } },
          spec: {
            initContainers: [{ ...CONTAINER, name: 'sidecar', restartPolicy: 'Always' }],
            containers: [CONTAINER],
            schedulingGates: [{ name: 'example.com/wait' }],
          },
        },
      },
    },
  },
  {
    collection: `/api/v1/namespaces/${NAMESPACE}/services`,
    older: `/api/v1/namespaces/${NAMESPACE}/services`,
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'near' },
      spec: { ports: [{ port: 80 }], trafficDistribution: 'PreferClose' },
    },
  },
  {
    collection: `/apis/resource.k8s.io/v1/namespaces/${NAMESPACE}/resourceclaims`,
    object: {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name: 'device' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } },
    },
  },
];

describe('replicas of two API levels', () => {
  const workspace = makeWorkspace('levels');
  const replicas: Replica[] = [];
  let etcd: EtcdCluster | undefined;
  let load: RollingLoad | undefined;

  beforeAll(
    explained(async () => {
      etcd = await startEtcdCluster({ size: 1, dataDir: path.join(workspace.dir, 'etcd') });
      for (const name of ['first', 'second']) {
        replicas.push(
          await startReplica({
            name,
            dialect: 'kubernetes',
            storage: { kind: 'etcd', endpoints: etcd.endpoints },
            dir: workspace.dir,
            credentials: ensureCredentials(workspace.dir),
            shutdownDelay: '1s',
            extraArgs: OLD,
            // Without the flag, the level is that of the store.
            env: { ORCH_API_LEVEL: '' },
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
    'are rolled to the newer level and back under load without a lost write, event, object or field',
    explained(async () => {
      const [first, second] = replicas;
      if (first === undefined || second === undefined) throw new Error('There are no replicas.');
      load = await startRollingLoad(replicas.map(({ client }) => client));
      expect((await first.client.create('/api/v1/namespaces', namespace(NAMESPACE))).status).toBe(201);

      await first.exchange({ extraArgs: NEW });
      const specs = new Map<Sample, unknown>();
      for (const sample of SAMPLES) {
        const created = await first.client.create(sample.collection, sample.object);
        expect({ status: created.status, text: created.text }).toMatchObject({ status: 201 });
        specs.set(sample, created.body.spec);
        expect(created.body.spec).toMatchObject(sample.object.spec ?? {});
      }
      /** Checks that the newer level has every field, whatever writes through the other one were. */
      const expectAll = async (replica: Replica): Promise<void> => {
        for (const [{ collection, object }, spec] of specs) {
          const { status, body } = await replica.client.get(`${collection}/${object.metadata.name}`);
          expect({ status, spec: withoutNulls(body.spec) }).toEqual({ status: 200, spec });
        }
      };
      /** Writes every sample that the older level serves, by a patch and as a whole. */
      const touch = async (replica: Replica, by: string): Promise<void> => {
        for (const { older, object } of SAMPLES) {
          if (older === undefined) continue;
          const item = `${older}/${object.metadata.name}`;
          const patched = await replica.client.mergePatch(item, { metadata: { annotations: { by } } });
          expect({ status: patched.status, text: patched.text }).toMatchObject({ status: 200 });
          const { body } = patched;
          const updated = await replica.client.update(item, {
            ...body,
            metadata: {
              ...body.metadata,
              annotations: { ...body.metadata?.annotations, by: `${by} as a whole` },
            },
          });
          expect({ status: updated.status, text: updated.text }).toMatchObject({ status: 200 });
        }
      };
      await touch(second, 'the older beside the newer');
      await expectAll(first);

      await second.exchange({ extraArgs: NEW });
      await expectAll(second);

      await first.exchange({ extraArgs: OLD });
      await touch(first, 'the older again');
      await expectAll(second);
      await second.exchange({ extraArgs: OLD });
      await touch(second, 'the older alone');

      // A start without the flag takes the level of the store: the process has to load its tables again.
      await first.exchange({ extraArgs: [] });
      expect((await first.client.get('/version')).body).toMatchObject({ minor: '21' });

      await second.exchange({ extraArgs: NEW });
      await expectAll(second);
      await first.exchange({ extraArgs: [] });
      expect((await first.client.get('/version')).body).toMatchObject({ minor: '36' });
      await expectAll(first);
      await load.stop();
    }),
  );
});

/** The older level serves and stores an empty time of a pod template as null. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) => each ?? undefined);
}
