import type { ApiObject, ObjectMeta } from '../../shared/object/object';
import { conflict, notFound } from '../../shared/errors/status-error';
import type { AdmissionAttributes } from './admission';
import type { DeleteOptions } from './deletion';
import { planDeletion } from './deletion';
import { withTrackedFieldsOnly } from './field-tracking';
import { kindInErrors } from './resource';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import { writeTarget } from './write-target';
import type { Endpoint } from './resource';
import type { Strategy } from './strategy';
import type { Intent, Written } from './write';
import { writeOptimistically } from './write';

/**
 * Deletes the object, or marks it terminating when finalizers, a grace period or its content hold it. `Written.kind` says which:
 * `deleted`, `updated`, or `none` when it was terminating already. Refuses with NotFound, Conflict (preconditions), or whatever
 * admission says.
 */
export async function deleteObject(
  context: WriteContext,
  request: WriteRequest,
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
  const strategy = strategyOf(endpoint);
  const attempt = async (current: ApiObject | undefined): Promise<Intent> => {
    if (current === undefined) throw notFound(endpoint.row, name);
    checkPreconditions(request, options, current);
    await admitDeletion(context, { ...request, deleteOptions: options }, current, signal);
    const plan = planDeletion(current, strategy, options, context.clock.now());
    if (plan.kind === 'remove') return { kind: 'delete', object: plan.object };
    if (plan.kind === 'wait') return { kind: 'none', object: plan.object };
    return { kind: 'put', object: withTrackedFieldsOnly(context, plan.object) };
  };
  const target = writeTarget(context, request, { assumeAbsent: false });
  return writeOptimistically(target, (current) => attempt(current?.object), signal);
}

/** The strategy of the kind as requests to this version find it. */
function strategyOf({ row, stored }: Endpoint): Strategy {
  const { strategy } = stored;
  const own = strategy.defaultPropagationIn?.[row.version];
  return own === undefined ? strategy : { ...strategy, defaultPropagation: own };
}

function checkPreconditions(
  { endpoint, name }: WriteRequest,
  { preconditions = {} }: DeleteOptions,
  current: ApiObject,
): void {
  const { resource, group, strategy } = endpoint.stored;
  const failed = failedPrecondition(preconditions, current.metadata);
  if (failed === undefined) return;
  const { what, wanted, found, because } = failed;
  if (strategy.refusesPreconditionsByResource === true) {
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    throw conflict({ group, resource }, name, why);
  }
  const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). The object might have been ${because}`;
  const named = kindInErrors(endpoint.stored);
  throw conflict({ group: named.group, resource: named.kind }, name, why);
}

interface FailedPrecondition {
  readonly what: 'UID' | 'ResourceVersion';
  readonly wanted: string;
  readonly found: string;
  /** What may have happened to the object. */
  readonly because: string;
}

function failedPrecondition(
  wanted: NonNullable<DeleteOptions['preconditions']>,
  { uid = '', resourceVersion = '' }: ObjectMeta,
): FailedPrecondition | undefined {
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    return { what: 'UID', wanted: wanted.uid, found: uid, because: 'deleted and then recreated' };
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    const { resourceVersion: version } = wanted;
    return { what: 'ResourceVersion', wanted: version, found: resourceVersion, because: 'modified' };
  }
  return undefined;
}

async function admitDeletion(
  context: WriteContext,
  request: WriteRequest & { readonly deleteOptions: DeleteOptions },
  current: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const attributes: AdmissionAttributes = {
    ...request,
    operation: 'DELETE',
    object: undefined,
    oldObject: current,
  };
  await context.admission.mutate(attributes, signal);
  await context.admission.validate(attributes, signal);
}
