import { Pace } from '../../shared/concurrency/pace';
import type { ApiObject } from '../../shared/object/object';
import type { Guard } from '../storage/backend';
import type { AdmissionAttributes, AdmissionOperation } from './admission';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';

/** An object that may be stored, and what must not change before it is. */
export interface Admitted {
  readonly object: ApiObject;
  readonly guards?: readonly Guard[];
}

/** Mutating admission, then what `prepare` makes of the object, then `validate`, then validating admission. */
export async function admit(
  context: WriteContext,
  request: WriteRequest,
  write: {
    readonly operation: AdmissionOperation;
    readonly object: ApiObject;
    readonly oldObject: ApiObject | undefined;
    prepare(object: ApiObject): ApiObject;
    validate(object: ApiObject): void;
  },
  signal: AbortSignal,
): Promise<Admitted> {
  const guards = new Map<string, Guard>();
  const relyOn = (guard: Guard): void => {
    guards.set(guard.key, guard);
  };
  relyOnDefinition(context, request, { operation: write.operation, relyOn });
  const attributes: AdmissionAttributes = { ...request, ...pick(write), write: request, relyOn };
  const mutated = (await context.admission.mutate(attributes, signal)) ?? write.object;
  const pace = new Pace();
  const prepared = write.prepare(mutated);
  if (pace.isDue) await pace.rest();
  write.validate(prepared);
  if (pace.isDue) await pace.rest();
  await context.admission.validate({ ...attributes, object: prepared }, signal);
  return { object: prepared, ...(guards.size === 0 ? {} : { guards: [...guards.values()] }) };
}

function relyOnDefinition(
  { prefix }: WriteContext,
  { endpoint }: WriteRequest,
  write: { readonly operation: AdmissionOperation; readonly relyOn: (guard: Guard) => void },
): void {
  if (write.operation !== 'CREATE' && write.operation !== 'UPDATE') return;
  const base = endpoint.stored.strategy.reliesOn?.(write.operation);
  if (base !== undefined) write.relyOn({ key: `${prefix}/${base.key}`, revision: base.revision });
}

function pick(write: {
  readonly operation: AdmissionOperation;
  readonly object: ApiObject;
  readonly oldObject: ApiObject | undefined;
}): Pick<AdmissionAttributes, 'operation' | 'object' | 'oldObject'> {
  return { operation: write.operation, object: write.object, oldObject: write.oldObject };
}
