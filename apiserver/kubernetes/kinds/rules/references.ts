import { isInForce } from '../../../../shared/api/changes';
import type { CrossVersionObjectReference } from '../../../../shared/api/types/autoscaling-v2';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { invalidForEach, optionalForm } from './primitives';

/** The kind and name of any object; the kind may be unknown to this server. */
export function kindAndName({ kind, name }: Reference, path: string): FieldError[] {
  return [...part(kind, `${path}.kind`, ''), ...part(name, `${path}.name`, '')];
}

/** What all references have. */
interface Reference {
  readonly kind: string;
  readonly name: string;
}

/** Group, kind and name of an object in the same namespace or of the cluster. */
export function typedReference(
  { apiGroup: group, kind, name }: Reference & { readonly apiGroup?: string | null },
  path: string,
): FieldError[] {
  return [
    ...(group === undefined || group === null
      ? []
      : invalidForEach(dns1123SubdomainProblems(group), group, `${path}.apiGroup`)),
    ...part(kind, `${path}.kind`, 'kind is required'),
    ...part(name, `${path}.name`, 'name is required'),
  ];
}

function part(value: string, path: string, why: string): FieldError[] {
  return value === '' ? [required(path, why)] : optionalForm(value, path, pathSegmentProblems);
}

/** What an autoscaler scales: only one kind of the core group can be scaled. A reference that does not change is not validated again. */
export function scaledGroup(
  { kind, apiVersion = '' }: CrossVersionObjectReference,
  previous: CrossVersionObjectReference | undefined,
): FieldError[] {
  if (!isInForce('scaledGroups')) return [];
  if (previous !== undefined && previous.kind === kind && (previous.apiVersion ?? '') === apiVersion)
    return [];
  const path = 'spec.scaleTargetRef.apiVersion';
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  return parts.length === 2 || kind === 'ReplicationController'
    ? []
    : [invalid(path, apiVersion, 'apiVersion must specify API group')];
}
