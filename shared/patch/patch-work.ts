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
