import type { Watcher } from './watcher';

/** A watch that has begun. */
export interface OpenWatch {
  readonly watcher: Watcher;
  /** The catch-up before the live feed; also the last frame of a watch that ends during catch-up. */
  readonly catchUp?: AsyncGenerator<Buffer>;
  /** Ends the watch, if it has not ended yet. */
  readonly close: () => void;
}

/**
 * The bytes of one watch. It starts with the first `next`. When live, `next` reads the watcher's queue directly: generators would add half a
 * dozen promises to each delivery.
 */
export class WatchIterator implements AsyncIterableIterator<Buffer> {
  /** Undefined after its call. */
  #begin: (() => OpenWatch | undefined) | undefined;
  #open: OpenWatch | undefined;
  #live: Watcher | undefined;
  #isOver = false;

  /** `begin` returns undefined when the client has left already. */
  constructor(begin: () => OpenWatch | undefined) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  // An async function would add a promise to each delivery.
  // eslint-disable-next-line typescript/promise-function-async -- see above
  next(): Promise<IteratorResult<Buffer, undefined>> {
    return this.#live === undefined ? this.#catchUp() : this.#live.next();
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#isOver = true;
    this.#open?.close();
    await this.#open?.catchUp?.return(undefined);
    return DONE;
  }

  async #catchUp(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#isOver) return DONE;
    this.#open ??= this.#begin?.();
    this.#begin = undefined;
    if (this.#open === undefined) {
      this.#isOver = true;
      return DONE;
    }
    const { watcher, catchUp, close } = this.#open;
    try {
      const step = await catchUp?.next();
      if (step !== undefined && step.done !== true) return step;
    } catch (error) {
      close();
      throw error;
    }
    if (watcher.isLive) {
      this.#live = watcher;
      this.#open = { watcher, close };
      return watcher.next();
    }
    this.#isOver = true;
    close();
    return DONE;
  }
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
