import { untilAborted } from '../../shared/concurrency/abort';

/** Lets a bounded number of history streams run at a time; the others wait in the order they came. */
export class HistoryGate {
  readonly #streamsMax: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(streamsMax: number) {
    this.#streamsMax = streamsMax;
  }

  get running(): number {
    return this.#running;
  }

  /** Resolves with the function that makes room for the next. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#running < this.#streamsMax) this.#running += 1;
    else await this.#wait(signal);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#leave();
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    let admit: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      admit = resolve;
    });
    this.#waiting.push(admit);
    try {
      await untilAborted(turn, signal);
    } catch (error) {
      const at = this.#waiting.indexOf(admit);
      // Admitted and aborted in the same moment: the place must go on to the next.
      if (at === -1) this.#leave();
      else this.#waiting.splice(at, 1);
      throw error;
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
