import { getEventListeners } from 'node:events';

/** What of an AbortSignal somebody needs who only wants to hear that it aborts. Every AbortSignal is one. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An AbortController whose signal is made when somebody asks for it. A signal of the runtime's takes most of a kilobyte, a lifetime a tenth
 * of that, which counts where thousands of them stay for an hour. Listeners run in the step of the abort, and must not throw.
 */
export class Lifetime implements AbortSource {
  #isAborted = false;
  #reason: unknown = undefined;
  /** Replaced by `concat`, which makes an array of one listener with room for one. */
  #listeners: readonly (() => void)[] = NOBODY;
  #controller: AbortController | undefined = undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The runtime's own signal, for what takes nothing else. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /**
   * Lets go of the runtime's signal, if it has no listener. Who has kept it to look at it later, or below an `AbortSignal.any`, will not hear
   * of the abort; who asks again gets another one.
   */
  releaseSignal(): void {
    const controller = this.#controller;
    if (controller === undefined || getEventListeners(controller.signal, 'abort').length > 0) return;
    this.#controller = undefined;
  }

  /** A listener that is added after the abort is never called, as with a signal. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#isAborted && !this.#listeners.includes(listener))
      this.#listeners = this.#listeners.concat(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners.includes(listener))
      this.#listeners = this.#listeners.filter((each) => each !== listener);
  }

  /** The first reason counts. The signal aborts before the listeners are told. */
  abort(reason: Error): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    // One may take another off the list.
    for (let next = this.#listeners[0]; next !== undefined; next = this.#listeners[0]) {
      this.#listeners = this.#listeners.slice(1);
      next();
    }
  }
}

const NOBODY: readonly (() => void)[] = [];
