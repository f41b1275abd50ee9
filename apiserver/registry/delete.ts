import type { ApiObject } from '../../shared/meta/object';
import { conflict, notFound } from '../../shared/errors/status-error';
import { GROUP } from '../../shared/names';
import type { AdmissionAttributes } from './admission';
import type { DeleteOptions } from './deletion';
import { planDeletion } from './deletion';
import { withTrackedFieldsOnly } from './field-tracking';
import type { StoreContext, WriteRequest } from './object-store';
import { writeTarget } from './object-store';
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
  context: StoreContext,
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

/** Kinds that once lived in extensions and are still called by that group when a precondition fails. */
const FORMERLY_EXTENSIONS: ReadonlySet<string> = new Set(['Ingress', 'NetworkPolicy', 'PodSecurityPolicy']);

/** Kinds whose deletion looks at preconditions by itself, and names the resource where others name the kind. */
const SELF_CHECKED: ReadonlySet<string> = new Set(['CustomResourceDefinition', 'Namespace']);

function checkPreconditions(
  { endpoint, name }: WriteRequest,
  { preconditions = {} }: DeleteOptions,
  current: ApiObject,
): void {
  const { uid, resourceVersion } = preconditions;
  const { metadata } = current;
  const { group, kind, resource } = endpoint.stored;
  const subject = {
    group: FORMERLY_EXTENSIONS.has(kind) ? GROUP.extensions : group,
    resource: SELF_CHECKED.has(kind) ? resource : kind,
  };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). `;
    throw conflict(subject, name, `${why}The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const found = metadata.resourceVersion ?? '';
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${found}). `;
    throw conflict(subject, name, `${why}The object might have been modified`);
  }
}

async function admitDeletion(
  context: StoreContext,
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
