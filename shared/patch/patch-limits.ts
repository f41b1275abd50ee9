import { PatchError } from './patch-error';

/** Limits the work of one patch. Its size does not bound it: one short operation can shift a whole list. */
export class PatchWork {
  readonly #max: number;
  readonly #what: string;
  #done = 0;

  /** Allows `max` units of work; `what` names them in the error: `list items moved by a JSON patch`. */
  constructor(max: number, what: string) {
    this.#max = max;
    this.#what = what;
  }

  /** Counts work before it is done. Throws PatchError `too-many` beyond the limit. */
  count(times: number): void {
    this.#done += times;
    if (this.#done > this.#max) {
      throw new PatchError('too-many', `The allowed maximum of ${this.#what} is ${String(this.#max)}`);
    }
  }
}

/**
 * Deepest nesting of a patch and of its result: far above any API type, far below the limit of the call stack.
 */
export const PATCH_DEPTH_MAX = 1000;

/** True when objects and lists nest deeper than `levels`. It recurses no further than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeeper(value[index], levels - 1)) return true;
    return false;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key in object) if (isDeeper(object[key], levels - 1)) return true;
  return false;
}
