import type { AdmissionAttributes } from '../../engine/registry/admission';
import type { Endpoint } from '../../engine/registry/resource';

/**
 * Caches a result per kind of write (operation, endpoint, subresource). Entries belong to the endpoint object, not to names: a custom
 * resource may be redefined with other properties.
 */
export class WriteKinds<T> {
  readonly #known = new WeakMap<Endpoint, Map<string, T>>();

  /** Calls `findOut` on a miss. */
  of({ operation, write: { endpoint, subresource } }: AdmissionAttributes, findOut: () => T): T {
    const ofEndpoint = this.#known.get(endpoint) ?? new Map<string, T>();
    const key = `${operation} ${subresource}`;
    const known = ofEndpoint.get(key);
    if (known !== undefined) return known;
    const found = findOut();
    ofEndpoint.set(key, found);
    this.#known.set(endpoint, ofEndpoint);
    return found;
  }
}
