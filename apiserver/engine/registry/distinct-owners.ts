import type { ApiObject, OwnerReference } from '../../../shared/object/object';

const FINDING = '.metadata.ownerReferences contains duplicate entries';
const ADVICE =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ';

/**
 * The object with each owner reference once. Repeated ones are reported by a warning; `when` says since when
 * they are repeated.
 */
export function withDistinctOwners(object: ApiObject, warnings: string[], when = ''): ApiObject {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return object;
  const distinct: OwnerReference[] = [];
  const repeated: string[] = [];
  // Equal references have equal texts: their fields are in the order of the schema.
  const seen = new Set<string>();
  for (const owner of ownerReferences) {
    const words = JSON.stringify(owner);
    if (seen.has(words)) repeated.push(owner.uid);
    else distinct.push(owner);
    seen.add(words);
  }
  if (repeated.length === 0) return object;
  warnings.push(`${FINDING}${when}; ${ADVICE}${repeated.join(', ')}`);
  return { ...object, metadata: { ...object.metadata, ownerReferences: distinct } };
}
