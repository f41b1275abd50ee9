import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../../shared/api/types/policy-v1';
import { GROUP } from '../../../../shared/names';
import { StatusError, forbidden, notFound } from '../../../../shared/errors/status-error';
import { toLabelSelector, matchesLabels } from '../../../../shared/meta/labels';
import type { ApiObject } from '../../../../shared/object/object';
import { timestamp } from '../../../engine/registry/metadata';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import { readList } from '../../../engine/registry/read';
import type { Endpoint } from '../../../engine/registry/resource';
import { writeTarget } from '../../../engine/registry/write-target';
import { withStatus } from '../../../engine/registry/strategy';
import type { OperationContext, OperationRequest } from '../../../engine/registry/operation';
import { writeOptimistically } from '../../../engine/registry/write';

/** A PodDisruptionBudget in its stored version. */
export interface Budget {
  readonly endpoint: Endpoint;
  readonly object: PodDisruptionBudget;
}

/** Evictions that the controller has not seen yet; more than these and something is wrong with it. */
const DISRUPTED_PODS_MAX = 2_000;
const RETRY_AFTER_SECONDS = 10;
const BUDGET = { group: GROUP.policy, resource: 'poddisruptionbudget' } as const;
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

/** The budgets of the pod's namespace that select it, as fresh as a read index taken now. */
export async function budgetsOf(
  { store, registry }: OperationContext,
  pod: ApiObject,
  signal: AbortSignal,
): Promise<readonly Budget[]> {
  const endpoint = ['v1', 'v1beta1']
    .map((version) => registry().endpoint(GROUP.policy, version, 'poddisruptionbudgets'))
    .find((each) => each !== undefined);
  if (endpoint === undefined) return [];
  const { namespace = '', labels } = pod.metadata;
  const selection = { namespace, key: undefined, fieldEquals: [], matches: undefined };
  const plan = { read: { kind: 'most recent' }, limit: undefined, after: undefined } as const;
  const { entries } = await readList(store, { endpoint, selection }, plan, signal);
  return entries
    .map((entry) => currentOfEntry(endpoint.stored, entry).object as PodDisruptionBudget)
    .filter(({ spec }) => matchesLabels(toLabelSelector(spec.selector), labels))
    .map((object) => ({ endpoint, object }));
}

/**
 * Takes one disruption from the budget and notes the pod in it, so that the controller counts it as gone before it is. Two evictions
 * at once each take their own.
 */
export async function spendDisruption(
  { store }: OperationContext,
  {
    budget,
    request,
    dryRun,
  }: { readonly budget: Budget; readonly request: OperationRequest; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<void> {
  const name = budget.object.metadata.name ?? '';
  const write = { ...request, endpoint: budget.endpoint, name, subresource: 'status', dryRun };
  const target = {
    ...writeTarget(store, write, { assumeAbsent: false }),
    exhausted: () =>
      new StatusError(
        'Timeout',
        `couldn't update PodDisruptionBudget ${JSON.stringify(name)} due to conflicts`,
        { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
      ),
  };
  await writeOptimistically(
    target,
    async (stored) => {
      if (stored === undefined) throw notFound(budget.endpoint.row, name);
      const current = stored.object as PodDisruptionBudget;
      return Promise.resolve({ kind: 'put', object: spent(current, request.name, store.clock.now()) });
    },
    signal,
  );
}

/** The budget with one disruption less. Throws what an eviction is refused with. */
function spent(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudget {
  const { status } = budget;
  const name = budget.metadata.name ?? '';
  const allowed = status?.disruptionsAllowed ?? 0;
  const disrupted = status?.disruptedPods ?? {};
  if ((status?.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw changedMeanwhile(name);
  }
  if (allowed < 0) throw forbidden(BUDGET, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > DISRUPTED_PODS_MAX) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(BUDGET, name, why);
  }
  if (status === undefined || allowed === 0) throw tooManyRequests(exhaustedText(name, status));
  const next = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [podName]: timestamp(nowMs) },
  };
  return withStatus(budget, allowed > 1 ? next : withoutDisruptions(next, budget, nowMs));
}

/** What is answered while a budget, or a pod that it covers, is changing: come again. */
export function changedMeanwhile(budget: string): StatusError {
  const why = `The disruption budget ${budget} is still being processed by the server.`;
  return tooManyRequests(why, RETRY_AFTER_SECONDS);
}

function exhaustedText(name: string, status: PodDisruptionBudgetStatus | undefined): string {
  const needed = String(status?.desiredHealthy ?? 0);
  const current = String(status?.currentHealthy ?? 0);
  return `The disruption budget ${name} needs ${needed} healthy pods and has ${current} currently`;
}

/** The condition says it as soon as it is so; the controller would only later. */
function withoutDisruptions(
  status: PodDisruptionBudgetStatus,
  budget: PodDisruptionBudget,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const { conditions = [] } = status;
  const at = conditions.findIndex(({ type }) => type === 'DisruptionAllowed');
  const before = conditions[at];
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : timestamp(nowMs),
  };
  return {
    ...status,
    conditions: before === undefined ? [...conditions, condition] : conditions.with(at, condition),
  };
}

function tooManyRequests(why: string, retryAfterSeconds = 0): StatusError {
  return new StatusError('TooManyRequests', VIOLATION, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: why }],
      ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
    },
  });
}
