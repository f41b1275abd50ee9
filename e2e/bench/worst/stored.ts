import type { ApiClient } from '../../support/client';
import { configMap, defaultServiceAccount, namespace } from '../../support/objects';
import { MANY, SPACE } from './request';
import { DEFINITIONS, WIDE_CUSTOM } from './definitions';

const FILL_CONCURRENCY = 32;
const MANY_COUNT = Number(process.env['ORCH_BENCH_OBJECTS'] ?? 10_000);

/** Objects near the limit of etcd (1.5 MiB), each of a different structure. */
export const STORED = {
  /** 60,000 keys. */
  wide: `${SPACE}/configmaps/wide`,
  /** One value of 1 MB, the limit of a ConfigMap. */
  text: `${SPACE}/configmaps/text`,
  /** 2,000 containers. */
  pod: `${SPACE}/pods/long`,
  endpoints: `${SPACE}/endpoints/long`,
  finalizers: `${SPACE}/configmaps/finalized`,
  ingress: '/apis/networking.k8s.io/v1/namespaces/worst/ingresses/long',
  autoscaler: '/apis/autoscaling/v2beta2/namespaces/worst/horizontalpodautoscalers/long',
  /** A custom resource with 40,000 keys. */
  custom: `${WIDE_CUSTOM}/wide`,
  small: `${SPACE}/configmaps/small`,
} as const;

/** The largest objects that are changed on the event loop. */
export const STORED_WITHIN = {
  /** 700 keys, each with its field. */
  keys: `${SPACE}/configmaps/within`,
  /** 240 containers. */
  pod: `${SPACE}/pods/within`,
  custom: `${WIDE_CUSTOM}/within`,
  /** 320 amounts. */
  amounts: '/apis/apps/v1/namespaces/worst/statefulsets/within',
} as const;

/** Creates the objects of the worst requests. Rejects if the server refuses one. */
export async function fillStore(client: ApiClient): Promise<void> {
  for (const name of ['worst', 'many']) {
    await create(client, '/api/v1/namespaces', namespace(name));
    await create(client, `/api/v1/namespaces/${name}/serviceaccounts`, defaultServiceAccount());
  }
  for (const definition of DEFINITIONS) {
    await create(client, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  await create(client, `${SPACE}/configmaps`, configMap('small'));
  await create(client, `${SPACE}/configmaps`, configMap('wide', keys(60_000)));
  await create(client, `${SPACE}/configmaps`, configMap('text', { text: 'x'.repeat(1_040_000) }));
  await create(client, `${SPACE}/pods`, longPod(2_000));
  await create(client, `${SPACE}/endpoints`, longEndpoints(18_000));
  await create(client, `${SPACE}/configmaps`, {
    metadata: { name: 'finalized', finalizers: numbered(40_000, (index) => `a.b/f${String(index)}`) },
  });
  await create(client, parentOf(STORED.ingress), {
    metadata: { name: 'long' },
    spec: {
      rules: numbered(5_000, (index) => ({
        host: `h${String(index)}.example`,
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 1 } } } },
          ],
        },
      })),
    },
  });
  await create(client, parentOf(STORED.autoscaler), {
    metadata: { name: 'long' },
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      metrics: numbered(5_000, (index) => ({
        type: 'Pods',
        pods: { metric: { name: `m${String(index)}` }, target: { type: 'AverageValue', averageValue: '1' } },
      })),
    },
  });
  await create(client, WIDE_CUSTOM, {
    apiVersion: 'worst.example/v1',
    kind: 'Wide',
    metadata: { name: 'wide' },
    spec: { free: keys(40_000) },
  });
  await create(client, parentOf(STORED_WITHIN.keys), configMap('within', keys(700)));
  await create(client, parentOf(STORED_WITHIN.pod), {
    metadata: { name: 'within' },
    spec: { containers: numbered(240, (index) => ({ name: `c${String(index)}`, image: 'i' })) },
  });
  await create(client, parentOf(STORED_WITHIN.custom), {
    apiVersion: 'worst.example/v1',
    kind: 'Wide',
    metadata: { name: 'within' },
    spec: {},
  });
  await create(client, parentOf(STORED_WITHIN.amounts), {
    metadata: { name: 'within' },
    spec: amountsSpec('1Mi'),
  });
  await fillMany(client);
}

async function fillMany(client: ApiClient): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < MANY_COUNT) {
      const index = String(next++);
      const labels = Object.fromEntries(numbered(10, (label) => [`l${String(label)}`, `v${index}`]));
      await create(client, MANY, { metadata: { name: `m${index}`, labels } });
    }
  };
  await Promise.all(Array.from({ length: FILL_CONCURRENCY }, writer));
}

function longPod(containers: number): object {
  return {
    metadata: { name: 'long' },
    spec: {
      containers: numbered(containers, (index) => ({
        name: `c${String(index)}`,
        image: 'i:1',
        env: [{ name: 'A', value: 'b' }],
      })),
    },
  };
}

function longEndpoints(addresses: number): object {
  return {
    metadata: { name: 'long' },
    subsets: [
      {
        addresses: numbered(addresses, (index) => ({
          ip: `10.1.${String(Math.floor(index / 250))}.${String(index % 250)}`,
        })),
        ports: [{ port: 1 }],
      },
    ],
  };
}

/** The spec of a StatefulSet of 80 containers with four quantities each, all equal to the given one. */
export function amountsSpec(amount: string): object {
  const labels = { a: 'b' };
  const limits = Object.fromEntries(
    ['memory', 'ephemeral-storage', 'e.io/a', 'e.io/b'].map((name) => [name, amount]),
  );
  const containers = Array.from({ length: 80 }, (_, index) => ({
    name: `c${String(index)}`,
    image: 'i',
    resources: { limits },
  }));
  return {
    serviceName: 's',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
}

export function keys(count: number, value = ''): Record<string, string> {
  return Object.fromEntries(numbered(count, (index) => [`k${String(index)}`, value]));
}

export function numbered<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

const CREATE_TIMEOUT_MS = 300_000;
const RETRIES = 50;
const RETRY_MS = 100;

async function create(client: ApiClient, path: string, body: unknown): Promise<void> {
  for (let tries = 0; ; tries++) {
    const created = await client.request({ method: 'POST', path, body, timeoutMs: CREATE_TIMEOUT_MS });
    if (created.status === 201) return;
    // A definition is not served immediately.
    if (created.status !== 404 || tries >= RETRIES) throw new Error(`${path}: ${created.text.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
