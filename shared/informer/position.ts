import type { WatchEvent } from '../client/options';
import { keyOfObject } from './store';

/** The relation of an event to the position: new, already handled before the watch was resumed, or out of order. */
export type EventOrder = 'new' | 'duplicate' | 'backwards';

const NUMBER = /^\d+$/;

/**
 * The position of a watch. Several objects can change in one version (an expired lease of the store), so a connection may break between
 * two events of one version: the watch then resumes one version earlier, and handled events of that version are recognized. A list and a
 * bookmark include their version completely.
 */
export class WatchPosition {
  #version: string;
  /** Keys whose events at `version` were handled; undefined if the version is complete. */
  #handled: Set<string> | undefined;

  /** `version` is a list's. */
  constructor(version: string) {
    this.#version = version;
  }

  /** The resourceVersion to watch from. */
  resumeVersion(): string {
    if (this.#handled === undefined || !NUMBER.test(this.#version)) return this.#version;
    const previous = BigInt(this.#version) - 1n;
    // Watching from 0 means something else: any state, as a list.
    return previous > 0n ? String(previous) : this.#version;
  }

  order({ object }: WatchEvent): EventOrder {
    const next = object.metadata.resourceVersion ?? '';
    if (!NUMBER.test(next) || !NUMBER.test(this.#version)) return 'new';
    const [a, b] = [BigInt(next), BigInt(this.#version)];
    if (a > b) return 'new';
    if (a < b) return 'backwards';
    return this.#handled === undefined || this.#handled.has(keyOfObject(object)) ? 'duplicate' : 'new';
  }

  /** Moves on to an event that is new. */
  advance({ type, object }: WatchEvent): void {
    const { resourceVersion } = object.metadata;
    if (resourceVersion === undefined || resourceVersion === '') return;
    if (type === 'BOOKMARK') {
      this.#version = resourceVersion;
      this.#handled = undefined;
    } else if (resourceVersion === this.#version && this.#handled !== undefined) {
      this.#handled.add(keyOfObject(object));
    } else {
      this.#version = resourceVersion;
      this.#handled = new Set([keyOfObject(object)]);
    }
  }
}
