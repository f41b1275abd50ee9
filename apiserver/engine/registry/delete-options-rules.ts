import { GROUP } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, invalidObject, notSupported } from '../../../shared/errors/field-error';

const POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

interface Propagation {
  readonly orphanDependents?: boolean | null | undefined;
  readonly propagationPolicy?: string | null | undefined;
}

/**
 * Validates the propagation policy of deletions and evictions: unknown values, and contradictions with
 * orphanDependents.
 */
export function propagationErrors({
  orphanDependents: orphan,
  propagationPolicy: policy,
}: Propagation): readonly FieldError[] {
  if (policy === undefined || policy === null) return [];
  const isBoth = orphan !== undefined && orphan !== null;
  const why = 'orphanDependents and deletionPropagation cannot be both set';
  return [
    ...(isBoth ? [invalid('propagationPolicy', policy, why)] : []),
    ...(POLICIES.includes(policy) ? [] : [notSupported('propagationPolicy', policy, [...POLICIES, 'nil'])]),
  ];
}

/** Validates `dryRun` of any write: only `All` is allowed; an empty text means none. */
export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}

/** Throws Invalid if the options of a deletion are invalid. */
export function refuseDeleteOptions(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind: 'DeleteOptions' }, '', errors);
}
