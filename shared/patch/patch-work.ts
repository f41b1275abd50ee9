import { PatchError } from './patch-error';

/** What one patch may do to lists and maps. Its size says little of it: one short operation can move all that a list holds. */
export class PatchWork {
  readonly #max: number;
  readonly #what: string;
  #done = 0;

  /** `what` is done at most `max` times: `list items moved by a JSON patch`. */
  constructor(max: number, what: string) {
    this.#max = max;
    this.#what = what;
  }

  /** Before the work is done. Throws PatchError `too-many` when it is too much. */
  count(times: number): void {
    this.#done += times;
    if (this.#done > this.#max) {
      throw new PatchError('too-many', `The allowed maximum of ${this.#what} is ${String(this.#max)}`);
    }
  }
}
