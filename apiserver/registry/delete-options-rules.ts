import { GROUP } from '../../shared/names';
import type { FieldError } from '../../shared/errors/field-error';
import { invalid, invalidObject, notSupported } from '../../shared/errors/field-error';

const POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

interface Propagation {
  readonly orphanDependents?: boolean | null | undefined;
  readonly propagationPolicy?: string | null | undefined;
}

/** What becomes of dependents, as deletions and evictions ask for it. Throws Invalid for two answers at once, or an unknown one. */
export function requirePropagation({
  orphanDependents: orphan,
  propagationPolicy: policy,
}: Propagation): void {
  const error = propagationError(orphan ?? undefined, policy ?? undefined);
  if (error !== undefined) throw invalidObject({ group: GROUP.meta, kind: 'DeleteOptions' }, '', [error]);
}

function propagationError(orphan: boolean | undefined, policy: string | undefined): FieldError | undefined {
  if (policy === undefined) return undefined;
  if (orphan !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    return invalid('propagationPolicy', policy, why);
  }
  return POLICIES.includes(policy)
    ? undefined
    : notSupported('propagationPolicy', policy, [...POLICIES, 'nil']);
}
