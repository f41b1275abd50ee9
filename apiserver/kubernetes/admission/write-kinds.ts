import type { AdmissionAttributes } from '../../engine/registry/admission';
import type { Endpoint } from '../../engine/registry/resource';

/**
 * What was found out about each kind of write: an operation on an endpoint, or on one of its subresources. It is known for as long as the
 * endpoint is there, and not by names: a custom resource may go, and come back with other properties under the same name.
 */
export class WriteKinds<T> {
  readonly #known = new WeakMap<Endpoint, Map<string, T>>();

  /** Calls `findOut` for what is not known yet. */
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
