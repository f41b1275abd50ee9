import { conflict } from '../../../../shared/errors/status-error';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { DeleteOptions } from '../deletion';
import { planDeletion } from '../deletion';
import type { WriteAttempt } from '../write-attempt';
import { withTrackedFieldsOnly } from '../field-tracking';
import type { Endpoint } from '../resource';
import { kindInErrors } from '../resource';
import type { Strategy } from '../strategy';

/** Checks the preconditions of a deletion. Throws Conflict. */
export function checkDeletion({ asked: { request }, object }: WriteAttempt): void {
  const { name, deleteOptions } = request;
  const { resource, group, strategy } = request.endpoint.stored;
  const failed = failedPrecondition(deleteOptions?.preconditions ?? {}, object.metadata);
  if (failed === undefined) return;
  const { what, wanted, found, because } = failed;
  if (strategy.compat?.refusesPreconditionsByResource === true) {
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    throw conflict({ group, resource }, name, why);
  }
  const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). The object might have been ${because}`;
  const named = kindInErrors(request.endpoint.stored);
  throw conflict({ group: named.group, resource: named.kind }, name, why);
}

/** Decides whether the object is removed, marked, or unchanged because it is terminating already. */
export function planRemoval(draft: WriteAttempt): void {
  const { context, request } = draft.asked;
  const options = request.deleteOptions ?? NO_OPTIONS;
  const plan = planDeletion(draft.object, strategyOf(request.endpoint), options, context.clock.now());
  draft.outcome = OUTCOMES[plan.kind];
  draft.object = plan.kind === 'mark' ? withTrackedFieldsOnly(context, plan.object) : plan.object;
}

const NO_OPTIONS: DeleteOptions = { dryRun: false };
const OUTCOMES = { remove: 'delete', mark: 'put', wait: 'none' } as const;

/** The strategy of the kind for requests to this version. */
function strategyOf({ row, stored }: Endpoint): Strategy {
  const { strategy } = stored;
  const own = strategy.compat?.defaultPropagationIn?.[row.version];
  return own === undefined ? strategy : { ...strategy, defaultPropagation: own };
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
