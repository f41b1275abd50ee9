import type { StatusError } from '../../../../shared/errors/status-error';
import type { DeliveryCount } from '../../request/exchange';
import type { CachedResource, Entry, FrameWorker, Representation } from '../state/entry';

/**
 * Why a watch ended: its timeout, a drain, the client, a slow reader, lost history, an error of the store, a changed definition of the
 * resource, an expired credential, or revoked access.
 */
export const END_REASONS = [
  'timeout',
  'drain',
  'aborted',
  'slow',
  'expired',
  'unavailable',
  'redefined',
  'unauthorized',
  'forbidden',
] as const;
export type EndReason = (typeof END_REASONS)[number];

export interface WatchRequest {
  /** Events after this revision; undefined: the current state (synthetic ADDED, sorted by key), then changes. */
  readonly from: number | undefined;
  /** Empty for all. */
  readonly namespace: string;
  /** Empty for all; from the path or from `metadata.name=`. */
  readonly name: string;
  /** Equality terms of the field selector, which an index may use (`spec.nodeName`). They apply with or without an index. */
  readonly fieldEquals: readonly (readonly [path: string, value: string])[];
  /** Label and field selectors; undefined selects everything. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  readonly representation: Representation;
  /** Encodes large frames off the event loop; absent: all frames are encoded on it. */
  readonly frameWorker?: FrameWorker | undefined;
  /** The requested group version, `v1` or `apps/v1`, for counters. */
  readonly apiVersion: string;
  readonly bookmarks: boolean;
  /** Ends the initial state with the bookmark of streaming lists. Only used without `from`. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutMs: number;
  /** Counts the bytes delivered after the initial state. */
  readonly delivered?: DeliveryCount | undefined;
  /** The holder that the queue counts for, see `holderOf`. */
  readonly holder?: string;
  /** User agent and address, for the log. */
  readonly client: string;
  /** The text of the selectors, for debug pages. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Called when the watch begins, with a callback that ends it with an error (access revoked). Returns a function that is called when the
   * watch has ended.
   */
  readonly guard?: (refuse: (refusal: StatusError) => void) => () => void;
  /**
   * Called when the watch ends, even if its reader is idle, and again with `slow` if its remaining queue is dropped. After `slow` nothing
   * more is delivered, and the connection can be closed; otherwise the last frames may still be in the stream.
   */
  readonly ended?: (reason: EndReason) => void;
}

/** All conditions of the request on an object, as one predicate. */
export function watchPredicate(request: WatchRequest): (entry: Entry) => boolean {
  const { namespace, name, fieldEquals, matches } = request;
  if (namespace === '' && name === '' && fieldEquals.length === 0) return matches ?? everything;
  return (entry) =>
    (namespace === '' || entry.namespace === namespace) &&
    (name === '' || entry.name === name) &&
    fieldEquals.every(([path, value]) => entry.fields[path] === value) &&
    (matches === undefined || matches(entry));
}

/** The equality term of the request that has an index, if any. */
export function indexedTerm(
  request: WatchRequest,
  resource: CachedResource,
): readonly [path: string, value: string] | undefined {
  return request.fieldEquals.find(([path]) => resource.indexedFields.includes(path));
}

function everything(): boolean {
  return true;
}
