import { RESOURCE } from '../../../../../shared/api/resource-names';
import type { Pod } from '../../../../../shared/api/types/core-v1';
import type { Eviction } from '../../../../../shared/api/types/policy-v1beta1';
import { defined } from '../../../../../shared/defined';
import { badRequest, notFound, StatusError } from '../../../../../shared/errors/status-error';
import { GROUP } from '../../../../../shared/names';
import type { Admission } from '../../../../engine/registry/admission';
import { readFresh } from '../../../../engine/registry/current';
import { deleteObject } from '../../../../engine/registry/delete';
import {
  dryRunErrors,
  propagationErrors,
  refuseDeleteOptions,
} from '../../../../engine/registry/delete-options-rules';
import type { DeleteOptions } from '../../../../engine/registry/deletion';
import { graceOf } from '../../../../engine/registry/deletion';
import type { Operation, OperationContext, OperationRequest } from '../../../../engine/registry/operation';
import type { Endpoint } from '../../../../engine/registry/resource';
import { relativeKey } from '../../../../engine/registry/resource';
import type { Budget } from '../../policy/spent-disruption';
import { budgetsOf, changedMeanwhile, spendDisruption } from '../../policy/spent-disruption';

/** Pods that run no more: removing them disrupts nothing, nor does removing those that do not run yet. */
const ENDED: readonly string[] = ['Succeeded', 'Failed'];

/** How often an eviction is retried because its pod changed. */
const TRIES_MAX = 5;

/**
 * Deletes a pod if the PodDisruptionBudget that covers it allows one more disruption, and spends that. Refuses with TooManyRequests
 * when it does not, and with a plain 500 when several budgets cover the pod, which the API does not support.
 */
export const evictPod: Operation = async (context, request, signal) => {
  const { object: eviction, name } = request;
  if (name !== (eviction.metadata.name ?? '')) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = deleteOptionsOf(request);
  const pods = context.registry().endpoint(GROUP.core, 'v1', 'pods');
  if (pods === undefined) throw notFound(RESOURCE.pods, name);
  for (let tries = 1; ; tries += 1) {
    const pod = await freshPod(context, { request, pods }, signal);
    if (pod === undefined) throw notFound(RESOURCE.pods, name);
    // Before a disruption is spent on what would be refused in the end.
    refuseDeleteOptions([...propagationErrors(options), ...dryRunErrors(dryRunOf(request))]);
    const decision = await evaluateEviction(context, { request, pod, dryRun: options.dryRun }, signal);
    const outcome = await tryDeletion(context, { request, pods, options, pod, decision }, signal);
    if (outcome === 'deleted') return undefined;
    if (decision.kind === 'unhealthy') throw changedMeanwhile(decision.budget);
    if (tries >= TRIES_MAX) throw outcome;
  }
};

/** What an eviction takes. A pod that costs nothing because of its state must still be in it when it is deleted. */
type EvictionDecision =
  | { readonly kind: 'ended' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'unhealthy'; readonly budget: string }
  | { readonly kind: 'allowed' };

async function evaluateEviction(
  context: OperationContext,
  subject: { readonly request: OperationRequest; readonly pod: Pod; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<EvictionDecision> {
  const phase = phaseOf(subject.pod);
  if (ENDED.includes(phase)) return { kind: 'ended' };
  return phase === 'Pending' ? { kind: 'pending' } : passBudget(context, subject, signal);
}

interface Deletion {
  readonly request: OperationRequest;
  readonly pods: Endpoint;
  readonly options: DeleteOptions;
  readonly pod: Pod;
  readonly decision: EvictionDecision;
}

/** Deletes the pod. A conflict on a version that the client did not request is returned, so that the eviction is retried. */
async function tryDeletion(
  { store }: OperationContext,
  { request, pods, options, pod, decision }: Deletion,
  signal: AbortSignal,
): Promise<'deleted' | StatusError> {
  const mustBeUnchanged =
    (decision.kind === 'pending' || decision.kind === 'unhealthy') &&
    options.preconditions?.resourceVersion === undefined;
  const { resourceVersion = '' } = pod.metadata;
  const preconditions = { ...options.preconditions, ...(mustBeUnchanged ? { resourceVersion } : {}) };
  try {
    await deleteObject(
      { ...store, admission: NO_FURTHER_ADMISSION },
      // The budget may already be spent, so the eviction is not retried on another server.
      { ...request, endpoint: pods, subresource: '', dryRun: options.dryRun, bounds: undefined },
      { ...options, preconditions },
      signal,
    );
    return 'deleted';
  } catch (error) {
    const isConflict = error instanceof StatusError && error.status.reason === 'Conflict';
    if (mustBeUnchanged && isConflict) return error;
    throw error;
  }
}

/** Admission has evaluated the Eviction and does not run again for the deletion. */
const NO_FURTHER_ADMISSION: Admission = {
  mutate: async () => Promise.resolve(undefined),
  validate: async () => Promise.resolve(),
};

function deleteOptionsOf({ object, dryRun }: OperationRequest): DeleteOptions {
  // Decoded as what is sent there.
  const { deleteOptions = {} } = object as Eviction;
  const {
    propagationPolicy: policy,
    preconditions,
    orphanDependents: orphan,
    dryRun: asked = [],
  } = deleteOptions;
  const { gracePeriodSeconds: seconds } = deleteOptions;
  const grace = seconds === undefined || seconds === null ? undefined : graceOf(seconds);
  if (asked.length > 0 && dryRun && !asked.includes('All')) {
    throw badRequest('Non-matching dry-run options in request and content');
  }
  return {
    dryRun: dryRun || asked.includes('All'),
    ...defined({ gracePeriodSeconds: grace }),
    ...defined({ propagationPolicy: policy, orphanDependents: orphan, preconditions }),
  };
}

/** What the options of the deletion say, which may be nothing that there is. */
function dryRunOf({ object }: OperationRequest): readonly string[] {
  return (object as Eviction).deleteOptions?.dryRun ?? [];
}

async function freshPod(
  { store }: OperationContext,
  { request, pods }: { readonly request: OperationRequest; readonly pods: Endpoint },
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const key = relativeKey(pods.stored, request.namespace, request.name);
  // Decoded as what is stored there.
  const { bounds } = request;
  return (await readFresh({ ...store, bounds }, pods, key, signal))?.object as Pod | undefined;
}

/**
 * Spends one disruption of the pod's budget. A pod that is not ready does not count as healthy, so that removing it costs nothing as
 * long as enough others are; then the deletion requires that the pod has not changed.
 */
async function passBudget(
  context: OperationContext,
  {
    request,
    pod,
    dryRun,
  }: { readonly request: OperationRequest; readonly pod: Pod; readonly dryRun: boolean },
  signal: AbortSignal,
): Promise<EvictionDecision> {
  const budgets = await budgetsOf(context, pod, signal);
  const [budget] = budgets;
  if (budgets.length > 1) {
    const why =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError('', why, { code: 500 });
  }
  if (budget === undefined) return { kind: 'allowed' };
  if (!isReady(pod) && isHealthyWithout(budget)) {
    return { kind: 'unhealthy', budget: budget.object.metadata.name ?? '' };
  }
  await spendDisruption(context, { budget, request, dryRun }, signal);
  return { kind: 'allowed' };
}

function isHealthyWithout({ object }: Budget): boolean {
  const { desiredHealthy = 0, currentHealthy = 0 } = object.status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

function phaseOf(pod: Pod): string {
  return pod.status?.phase ?? '';
}

function isReady(pod: Pod): boolean {
  const { conditions = [] } = pod.status ?? {};
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
