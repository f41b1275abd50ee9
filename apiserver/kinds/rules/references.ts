import type { FieldError } from '../../../shared/errors/field-error';
import { required } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../shared/meta/dns-names';
import type { Json } from '../../../shared/object/accessors';
import { record, optionalText, text } from '../../../shared/object/accessors';
import { invalidForEach, optionalForm } from './primitives';

/** The kind and name of any object, which may be of a kind that nobody here knows. */
export function kindAndName(value: unknown, path: string): FieldError[] {
  const reference = record(value);
  return [...part(reference, 'kind', path, ''), ...part(reference, 'name', path, '')];
}

/** Group, kind and name of an object in the same namespace or of the cluster. */
export function typedReference(value: unknown, path: string): FieldError[] {
  const reference = record(value);
  const group = optionalText(reference['apiGroup']);
  return [
    ...(group === undefined
      ? []
      : invalidForEach(dns1123SubdomainProblems(group), group, `${path}.apiGroup`)),
    ...part(reference, 'kind', path, 'kind is required'),
    ...part(reference, 'name', path, 'name is required'),
  ];
}

function part(reference: Json, field: 'kind' | 'name', path: string, why: string): FieldError[] {
  const at = `${path}.${field}`;
  if (text(reference[field]) === '') return [required(at, why)];
  return optionalForm(reference[field], at, pathSegmentProblems);
}
