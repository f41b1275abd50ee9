import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../list-watch/chaos/seeded-random';
import { NAMESPACES } from '../../list-watch/chaos/views';
import type { ApiClient } from '../../support/client';
import { configMap, service } from '../../support/objects';
import type { QuotaLimit } from '../checks/allocations';
import { pick } from './draw';

/** Small enough to be exhausted sometimes. */
export const ALLOCATION_FLAGS: readonly string[] = [
  '--service-node-port-range=30000-30023',
  '--service-cluster-ip-range=10.96.0.0/27',
];
export const QUOTA_NAMESPACE = 'chaos-quota';
export const QUOTA: QuotaLimit = { resource: 'configmaps', namespace: QUOTA_NAMESPACE, hard: 6 };

const SERVICES_PER_NAMESPACE = 12;
const QUOTA_NAMES = 14;
const REQUEST_TIMEOUT_MS = 1_500;
const PAUSE_MS = 20;

export interface AllocationCounts {
  given: number;
  refused: number;
}

/** Creates and deletes services and objects under a quota until the signal aborts, more than the quota and the ranges allow. */
export async function runAllocationClient(
  { replicas, random, counts }: AllocationClient,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const replica = pick(replicas, random);
    const isQuota = random.below(2) === 0;
    const isCreate = random.below(5) < 3;
    const path = isQuota
      ? `/api/v1/namespaces/${QUOTA_NAMESPACE}/configmaps`
      : `/api/v1/namespaces/${pick(NAMESPACES, random)}/services`;
    const name = isQuota
      ? `q${String(random.below(QUOTA_NAMES))}`
      : `s${String(random.below(SERVICES_PER_NAMESPACE))}`;
    const body = isQuota ? configMap(name) : typedService(name, random);
    const answer = await replica
      .request(
        isCreate
          ? { method: 'POST', path, body, timeoutMs: REQUEST_TIMEOUT_MS }
          : { method: 'DELETE', path: `${path}/${name}`, timeoutMs: REQUEST_TIMEOUT_MS },
      )
      .catch(() => undefined);
    if (isCreate && answer?.status === 201) counts.given++;
    else if (isCreate && answer !== undefined) counts.refused++;
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

export interface AllocationClient {
  readonly replicas: readonly ApiClient[];
  readonly random: Random;
  readonly counts: AllocationCounts;
}

export function quotaObject(): object {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few' },
    spec: { hard: { 'count/configmaps': String(QUOTA.hard) } },
  };
}

function typedService(name: string, random: Random): object {
  const base = service(name) as { readonly spec: object };
  return { ...base, spec: { ...base.spec, type: random.below(2) === 0 ? 'NodePort' : 'ClusterIP' } };
}
