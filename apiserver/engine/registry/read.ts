import { StatusError } from '../../../shared/errors/status-error';
import type { ListMeta } from '../../../shared/object/object';
import type { StoredRecord } from '../storage/backend';
import { StorageError, valueOf } from '../storage/backend';
import type { Entry } from '../watch-cache/state/entry';
import { inHubForm } from '../watch-cache/state/entry';
import { decodeEntry } from '../watch-cache/state/entry-codec';
import { compareKeys } from '../../../shared/meta/key-order';
import type { FreshnessNeeds } from '../watch-cache/freshness';
import type { ResourceCache } from '../watch-cache/resource-cache';
import { Slices } from '../../../shared/concurrency/slices';
import type { Snapshot } from '../watch-cache/state/snapshot';
import { namespaceRange } from '../watch-cache/state/snapshot';
import { encodeContinueToken } from './continue-token';
import type { ListPlan, ReadPlan } from './list-plan';
import type { ReadContext } from './read-context';
import { absoluteKey } from './current';
import type { Endpoint } from './resource';
import { relativeKey } from './resource';

/** Records per request when a page is read from the store. */
const STORE_PAGE_RECORDS = 500;
const RETRY_AFTER_SECONDS = 1;

/** The place of a list, and which objects it selects. */
export interface Selection {
  /** Empty for all namespaces and for cluster scope. */
  readonly namespace: string;
  /** The key of the only object that can be selected, if there is just one. */
  readonly key: string | undefined;
  /** Equality terms an index may answer. */
  readonly fieldEquals: readonly (readonly [path: string, value: string])[];
  /** Labels with a required value, which an index may answer. */
  readonly labelEquals?: readonly (readonly [label: string, value: string])[];
  /** Undefined: all objects match. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
}

export interface ListPage {
  readonly metadata: ListMeta;
  readonly entries: readonly Entry[];
}

/**
 * Reads one object, as fresh as the plan requires; undefined if there is none. Throws StorageError `corrupt`
 * for an object that cannot be decrypted: NotFound would make a client remove its dependents.
 */
export async function readObject(
  context: ReadContext,
  target: { readonly endpoint: Endpoint; readonly namespace: string; readonly name: string },
  plan: ReadPlan,
  signal: AbortSignal,
): Promise<Entry | undefined> {
  const { endpoint } = target;
  const key = relativeKey(endpoint.stored, target.namespace, target.name);
  const cache = context.cache.resource(endpoint.stored.keyPrefix);
  if ((await isAsFresh(context, plan, [cache], signal)) && cache.isReady) {
    const entry = cache.get(key);
    if (entry !== undefined || !context.encrypted.has(endpoint.stored.keyPrefix)) return entry;
  }
  const { record } = await context.backend.get(absoluteKey(context, endpoint, key), signal);
  if (record === undefined) return undefined;
  return entryOf(endpoint, key, record);
}

/**
 * Reads one page of a list. Throws Expired (410) if an exact version is no longer available, with a token
 * that continues in the newest state for a paging client, and Timeout (504) for a version in the future.
 */
export async function readList(
  context: ReadContext,
  target: { readonly endpoint: Endpoint; readonly selection: Selection },
  plan: ListPlan,
  signal: AbortSignal,
): Promise<ListPage> {
  const { endpoint, selection } = target;
  const cache = context.cache.resource(endpoint.stored.keyPrefix);
  if (plan.read.kind === 'exact') {
    if (plan.after !== undefined && context.cache.isTooOldToContinue(plan.read.revision)) throw expired(plan);
    await isAsFresh(context, { kind: 'not older than', revision: plan.read.revision }, [cache], signal);
    const snapshot = await cache.snapshotAt(plan.read.revision);
    if (snapshot !== undefined) return keptPage(cache, snapshot, { selection, plan });
    return pageOfStore(context, target, { ...plan, revision: plan.read.revision }, signal);
  }
  if ((await isAsFresh(context, plan.read, [cache], signal)) && cache.isReady) {
    // In one step with the snapshot and the readiness check, so that all are of one moment.
    const indexed = cache.byLabels(selection.labelEquals ?? []);
    return keptPage(cache, cache.snapshot(), {
      selection,
      plan,
      ...(indexed === undefined ? {} : { indexed }),
    });
  }
  return pageOfStore(context, target, { ...plan, revision: undefined }, signal);
}

/**
 * Waits until the cache is as fresh as the plan requires (linearizable for most recent). False: it timed out
 * or the cache is being rebuilt, and the store must be read. Throws Timeout (504) for a version in the
 * future, and errors of the store.
 */
export async function isAsFresh(
  { cache, cacheWaitMs: timeoutMs }: ReadContext,
  plan: ReadPlan,
  of: FreshnessNeeds['of'],
  signal: AbortSignal,
): Promise<boolean> {
  if (plan.kind === 'any') return of.every(({ isReady }) => isReady);
  const wanted = plan.kind === 'most recent' ? {} : { revision: plan.revision };
  if ((await cache.freshen({ of, ...wanted, timeoutMs, refill: 'behind' }, signal)) === 'fresh') return true;
  if (plan.kind === 'most recent' || cache.revision >= plan.revision) return false;
  // A cache that is being filled has no revision; only the store knows whether this one exists.
  if (cache.notReadyReason() !== undefined && (await cache.readIndex(signal)) >= plan.revision) return false;
  throw tooLargeResourceVersion(plan.revision, cache.revision);
}

function tooLargeResourceVersion(wanted: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${String(wanted)}, current: ${String(current)}`;
  return new StatusError('Timeout', message, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  });
}

/** Reads a page from memory. Snapshots with further pages are kept within their budget. */
async function keptPage(cache: ResourceCache, snapshot: Snapshot, request: PageRequest): Promise<ListPage> {
  const page = await pageOfSnapshot(snapshot, request);
  if (page.metadata.continue !== undefined) cache.retain(snapshot);
  return page;
}

interface PageRequest {
  readonly selection: Selection;
  readonly plan: ListPlan;
  /** The candidates in key order, if an index of labels has them. */
  readonly indexed?: readonly Entry[];
}

/** Scans a long range in slices: the snapshot never changes, and the event loop gets turns. */
async function pageOfSnapshot(
  snapshot: Snapshot,
  { selection, plan, indexed }: PageRequest,
): Promise<ListPage> {
  const slices = new Slices();
  const entries: Entry[] = [];
  const { limit, after } = plan;
  const { matches } = selection;
  const place = rangeOf(selection.namespace, after);
  for (const entry of candidates(snapshot, { selection, indexed }, place)) {
    if (matches === undefined ? slices.dueAfterSteps() : slices.due()) await slices.pause();
    if (matches !== undefined && !matches(entry)) continue;
    entries.push(entry);
    if (entries.length !== limit) continue;
    const rest = snapshot.count(...rangeAfter(place, entry.key));
    return { metadata: fullPageMeta(snapshot.revision, selection, { last: entry.key, rest }), entries };
  }
  return { metadata: { resourceVersion: String(snapshot.revision) }, entries };
}

interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

function rangeOf(namespace: string, after: string | undefined): Range {
  const [from, to] = namespace === '' ? [undefined, undefined] : namespaceRange(namespace);
  if (after === undefined) return { from, to };
  return { from: keyAfter(namespace === '' ? after : `${namespace}/${after}`), to };
}

/** The first key after `key` in byte order. */
function keyAfter(key: string): string {
  return `${key}\u0000`;
}

function rangeAfter({ to }: Range, key: string): [string | undefined, string | undefined] {
  return [keyAfter(key), to];
}

/** Candidate entries in key order: one, those of an index, or a range. */
function candidates(
  snapshot: Snapshot,
  { selection, indexed }: { readonly selection: Selection; readonly indexed: readonly Entry[] | undefined },
  { from, to }: Range,
): Iterable<Entry> {
  const { namespace, key, fieldEquals } = selection;
  if (key !== undefined) {
    const entry = from !== undefined && compareKeys(key, from) < 0 ? undefined : snapshot.get(key);
    return entry === undefined ? [] : [entry];
  }
  const field = fieldEquals.find(([path]) => snapshot.hasIndex(path));
  const found = field === undefined ? indexed : snapshot.byField(field[0], field[1]);
  return found === undefined ? snapshot.entries(from, to) : within(found, namespace, from);
}

/** A generator, so that the caller can pause. */
function* within(
  found: Iterable<Entry>,
  namespace: string,
  from: string | undefined,
): IterableIterator<Entry> {
  for (const entry of found) {
    if (namespace !== '' && entry.namespace !== namespace) continue;
    if (from === undefined || compareKeys(entry.key, from) >= 0) yield entry;
  }
}

/**
 * The metadata of a full page with more objects after it. As in v1.21 it has a continue token even if none
 * of those is selected, except for a list of one name; remainingItemCount is absent for lists with
 * selectors.
 */
function fullPageMeta(
  revision: number,
  { namespace, key, matches }: Selection,
  { last, rest }: { readonly last: string; readonly rest: number },
): ListMeta {
  if (rest === 0 || key !== undefined) return { resourceVersion: String(revision) };
  const after = namespace === '' ? last : last.slice(namespace.length + 1);
  return {
    resourceVersion: String(revision),
    continue: encodeContinueToken({ revision, after }),
    ...(matches === undefined ? { remainingItemCount: rest } : {}),
  };
}

/** Reads a page from the store, for a version that the cache does not have. */
async function pageOfStore(
  context: ReadContext,
  { endpoint, selection }: { readonly endpoint: Endpoint; readonly selection: Selection },
  plan: ListPlan & { readonly revision: number | undefined },
  signal: AbortSignal,
): Promise<ListPage> {
  const { namespace } = selection;
  const base = absoluteKey(context, endpoint, '');
  const prefix = namespace === '' ? base : `${base}${namespace}/`;
  const entries: Entry[] = [];
  let revision = plan.revision;
  let after = plan.after === undefined ? undefined : `${prefix}${plan.after}`;
  const slices = new Slices();
  for (;;) {
    const page = await listStore(context, { prefix, revision, after, plan }, signal);
    revision = page.revision;
    for (const [index, record] of page.records.entries()) {
      if (slices.due()) await slices.pause();
      after = record.key;
      const key = record.key.slice(base.length);
      const entry = entryOf(endpoint, key, record);
      if (selection.matches !== undefined && !selection.matches(entry)) continue;
      entries.push(entry);
      if (entries.length !== plan.limit) continue;
      const rest = page.records.length - index - 1 + page.remaining;
      return { metadata: fullPageMeta(revision, selection, { last: key, rest }), entries };
    }
    if (page.remaining === 0) return { metadata: { resourceVersion: String(revision) }, entries };
  }
}

async function listStore(
  context: ReadContext,
  at: {
    readonly prefix: string;
    readonly revision: number | undefined;
    readonly after: string | undefined;
    readonly plan: ListPlan;
  },
  signal: AbortSignal,
): ReturnType<ReadContext['backend']['list']> {
  try {
    return await context.backend.list(
      at.prefix,
      {
        limit: STORE_PAGE_RECORDS,
        ...(at.revision === undefined ? {} : { revision: at.revision }),
        ...(at.after === undefined ? {} : { after: at.after }),
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'compacted') throw error;
    throw expired(at.plan, error);
  }
}

/** Expired (410); a paging client gets a token that continues in the newest state. */
function expired({ after }: ListPlan, cause?: StorageError): StatusError {
  if (after === undefined) {
    return new StatusError('Expired', 'The resourceVersion for the provided list is too old.', { cause });
  }
  const message =
    'The provided continue parameter is too old to display a consistent list result. ' +
    'You can start a new list without the continue parameter, or use the continue token in this response to ' +
    'retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
    'objects that were created, modified, or deleted between the time the first chunk was returned and now may ' +
    'show up in the list.';
  return new StatusError('Expired', message, {
    cause,
    continue: encodeContinueToken({ revision: undefined, after }),
  });
}

function entryOf({ stored }: Endpoint, key: string, record: StoredRecord): Entry {
  const plain = inHubForm(stored, valueOf(record));
  return decodeEntry(stored, { key, plain, revision: record.revision });
}
