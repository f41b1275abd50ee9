import type { FieldError } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../shared/meta/dns-names';
import { record, optionalText } from './accessors';
import { invalidForEach, requiredText } from './primitives';

/** The kind and name of any object, which may be of a kind that nobody here knows. */
export function kindAndName(value: unknown, path: string): FieldError[] {
  const reference = record(value);
  return [
    ...requiredText(reference['kind'], `${path}.kind`, pathSegmentProblems),
    ...requiredText(reference['name'], `${path}.name`, pathSegmentProblems),
  ];
}

/** Group, kind and name of an object in the same namespace or of the cluster. */
export function typedReference(value: unknown, path: string): FieldError[] {
  const group = optionalText(record(value)['apiGroup']);
  return [
    ...(group === undefined
      ? []
      : invalidForEach(dns1123SubdomainProblems(group), group, `${path}.apiGroup`)),
    ...kindAndName(value, path),
  ];
}
