import type { StatusError } from '../../../../shared/errors/status-error';
import type { DeliveryCount } from '../../request/exchange';
import type { CachedResource, Entry, FrameElsewhere, Representation } from '../state/entry';

/**
 * Why a watch ended: its own timeout, a drain, the client, a reader that did not drain, lost history, the store, another definition of
 * what is watched, a credential that is over, or a right that is lost.
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
  /** Deliver what comes after this revision; undefined = the state now (synthetic ADDED, sorted by key) and then changes. */
  readonly from: number | undefined;
  /** Empty for all. */
  readonly namespace: string;
  /** Empty for all; from the path or from `metadata.name=`. */
  readonly name: string;
  /** Equality terms on fields, which an index may use (`spec.nodeName`). They hold whether or not there is an index. */
  readonly fieldEquals: readonly (readonly [path: string, value: string])[];
  /** Label and field selectors; undefined selects everything. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  readonly representation: Representation;
  /** Makes frames that would hold up everybody here; absent: all are made here. */
  readonly elsewhere?: FrameElsewhere | undefined;
  /** The group version that is asked for, `v1` or `apps/v1`: by it events are counted. */
  readonly apiVersion: string;
  readonly bookmarks: boolean;
  /** Ends the initial state with the bookmark of streaming lists. Means something only without `from`. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutMs: number;
  /** Told what is delivered beyond the state that the watch begins with; absent: nobody wants to know. */
  readonly delivered?: DeliveryCount | undefined;
  /** User agent and address, for the log. */
  readonly client: string;
  /** The text of the selectors, for administrators who look at watches. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Called when the watch begins, with what ends it by a refusal: the refusal is then all that is delivered. Returns what is called when
   * the watch has ended.
   */
  readonly guard?: (refuse: (refusal: StatusError) => void) => () => void;
  /**
   * Told that the watch ends, also while its reader is not reading; and of `slow` again where what is queued by then is not read. On `slow` nothing more comes, and the connection of the
   * client that does not take what was written can be cut; otherwise the last frames may still be on their way through the stream.
   */
  readonly ended?: (reason: EndReason) => void;
}

/** Everything the request asks of an object, as one test. */
export function watchPredicate(request: WatchRequest): (entry: Entry) => boolean {
  const { namespace, name, fieldEquals, matches } = request;
  if (namespace === '' && name === '' && fieldEquals.length === 0) return matches ?? everything;
  return (entry) =>
    (namespace === '' || entry.namespace === namespace) &&
    (name === '' || entry.name === name) &&
    fieldEquals.every(([path, value]) => entry.fields[path] === value) &&
    (matches === undefined || matches(entry));
}

/** The equality term that the resource has an index for, if the request has one. */
export function indexedTerm(
  request: WatchRequest,
  resource: CachedResource,
): readonly [path: string, value: string] | undefined {
  return request.fieldEquals.find(([path]) => resource.indexedFields.includes(path));
}

function everything(): boolean {
  return true;
}
