import { GROUP } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, invalidObject, notSupported } from '../../../shared/errors/field-error';

const POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

interface Propagation {
  readonly orphanDependents?: boolean | null | undefined;
  readonly propagationPolicy?: string | null | undefined;
}

/** What becomes of dependents, as deletions and evictions ask for it: what is wrong with two answers at once, or an unknown one. */
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

/** What is wrong with values of `dryRun`, in the options of any write: `All` is the only one, and the empty text is none. */
export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}

/** Throws Invalid where there is something wrong with the options of a deletion. */
export function refuseDeleteOptions(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind: 'DeleteOptions' }, '', errors);
}
