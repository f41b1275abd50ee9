import { deepEqual } from '../../shared/meta/clone';
import type { ApiObject, OwnerReference } from '../../shared/meta/object';

const ADVICE =
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ';

/** The object with each of its owners once; owners that are told twice in the same words are warned of. */
export function withDistinctOwners(object: ApiObject, warnings: string[]): ApiObject {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return object;
  const distinct: OwnerReference[] = [];
  const repeated: string[] = [];
  for (const owner of ownerReferences) {
    if (distinct.some((each) => deepEqual(each, owner))) repeated.push(owner.uid);
    else distinct.push(owner);
  }
  if (repeated.length === 0) return object;
  warnings.push(`${ADVICE}${repeated.join(', ')}`);
  return { ...object, metadata: { ...object.metadata, ownerReferences: distinct } };
}
