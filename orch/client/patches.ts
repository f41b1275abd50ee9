import { hasCode } from '../../shared/client/status';
import type { CallOptions, Patch } from '../../shared/client/options';
import { MEDIA_TYPE } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';

/** Options of a read and of the write after it. */
type UpdateOptions = CallOptions & { readonly subresource?: string };

/** The part of a ResourceClient that an update needs. */
interface Updatable<T extends ApiObject> {
  get(name: string, options: UpdateOptions): Promise<T>;
  update(object: never, options: UpdateOptions): Promise<T>;
}

/** Server-side apply of a whole object, or of the part of it that a manager owns. */
export function applyPatch(
  object: object,
  { force = false }: { readonly force?: boolean | undefined } = {},
): Patch {
  return { contentType: MEDIA_TYPE.applyPatch, body: object, force };
}

/** JSON merge patch (RFC 7386): members replace, null removes, lists are replaced whole. */
export function mergePatch(body: object): Patch {
  return { contentType: MEDIA_TYPE.mergePatch, body };
}

/** JSON patch (RFC 6902). */
export function jsonPatch(
  operations: readonly {
    readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
    readonly path: string;
    readonly from?: string;
    readonly value?: unknown;
  }[],
): Patch {
  return { contentType: MEDIA_TYPE.jsonPatch, body: operations };
}

/** Strategic merge patch, for built-in kinds only: lists merge by their keys. */
export function strategicMergePatch(body: object): Patch {
  return { contentType: MEDIA_TYPE.strategicMergePatch, body };
}

const TRIES_MAX = 5;

/**
 * Reads an object, changes it and replaces it, again on the newest one after a conflict, at most five times.
 *
 * @param change Returns the changed object, or undefined to leave it as it is. It may be called several times.
 * @returns The object as it is then.
 */
export async function updateWithRetry<T extends ApiObject>(
  resource: Updatable<T>,
  name: string,
  change: (object: T) => T | undefined,
  options: UpdateOptions = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const current = await resource.get(name, options);
    const changed = change(current);
    if (changed === undefined) return current;
    try {
      return await resource.update(changed as never, options);
    } catch (error) {
      if (!hasCode(error, 409) || tries === TRIES_MAX) throw error;
    }
  }
}
