import type { ApiObject } from '../../object/object';

/** Equality selectors of labels, and metadata.name and metadata.namespace as fields. */
export function matcher(query: URLSearchParams): (object: ApiObject) => boolean {
  const labels = terms(query.get('labelSelector'));
  const fields = terms(query.get('fieldSelector'));
  return ({ metadata }) =>
    labels.every(([key = '', value]) => metadata.labels?.[key] === value) &&
    fields.every(([key, value]) => (key === 'metadata.name' ? metadata.name : metadata.namespace) === value);
}

function terms(text: string | null): string[][] {
  return (text ?? '')
    .split(',')
    .filter((term) => term !== '')
    .map((term) => term.split(/==?/));
}
