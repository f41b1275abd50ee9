import type { ApiObject } from '../../../shared/object/object';
import type { Backend, Guard, StoredRecord } from '../storage/backend';
import { StorageError } from '../storage/backend';
import type { KnownObject } from '../watch-cache/recent-objects';
import type { Reservation } from './reservation';

/** How often one request may lose the race for its object before it gives up. */
export const WRITE_ATTEMPTS_MAX = 12;

/** The object as a write finds it. What is stored is compared with what would be written, to recognise a no-op. */
export interface Current extends KnownObject {
  /** The stored form is not the one that would be written now, so that an unchanged object is written all the same. */
  readonly stale?: boolean;
  /** The object with the fields that a later release has stored and this one does not know; absent where there are none. */
  readonly newer?: ApiObject;
  /** It has no such fields, since this server wrote it: to look for them would cost half as much as to decode it. */
  readonly isKnown?: boolean;
}

/** What an attempt wants done with the object it was shown. */
export interface Intent {
  readonly kind: 'put' | 'delete' | 'none';
  readonly object: ApiObject;
  /** Only of a put: what must not change before it. */
  readonly guards?: readonly Guard[];
  /** What the attempt holds beyond its key; it is told what became of it. */
  readonly reservation?: Reservation;
}

export interface Written {
  /** `none`: nothing was written; the object is as stored. */
  readonly kind: 'created' | 'updated' | 'deleted' | 'none';
  readonly object: ApiObject;
  /** The encoded object without resourceVersion, as stored. */
  readonly plain: Buffer;
  /** That of the object as it is stored; for a removed one, the last it had. */
  readonly revision: number;
}

/** An object in the form in which it is stored, without resourceVersion, and its bytes. */
export interface Encoded {
  readonly object: ApiObject;
  readonly plain: Buffer;
  /** It has fields that this release does not know. */
  readonly hasNewer?: boolean;
}

/** What need not be waited for is no promise. */
type Eventually<T> = T | Promise<T>;

export interface WriteTarget {
  readonly backend: Backend;
  /** The absolute key. */
  readonly key: string;
  readonly ttlSeconds: number | undefined;
  readonly dryRun: boolean;
  /** A creation: the first attempt takes the object to be absent and leaves it to the transaction to disagree. */
  readonly assumeAbsent: boolean;
  /** The cache knows nothing of the resource, so that the first attempt begins with a fresh object. */
  readonly isUncached?: boolean;
  /** The cached object; it may be stale, so it may lead to a transaction and to nothing else. */
  cached(signal: AbortSignal): Eventually<Current | undefined>;
  /** The object at least as fresh as a read index taken now. */
  fresh(signal: AbortSignal): Promise<Current | undefined>;
  /** Waits until the next attempt judges other objects as they were at this revision, or later. */
  catchUp(revision: number, signal: AbortSignal): Promise<void>;
  decode(record: StoredRecord, signal: AbortSignal): Eventually<Current>;
  /** `over`: what the object takes the place of. Throws where that cannot be. */
  encode(object: ApiObject, signal: AbortSignal, over?: Current): Eventually<Encoded>;
  /** Is told what is about to be sent to the store. */
  readonly announce?: (encoded: Encoded) => void;
  /** Is told what stands in the store after a write; undefined: nothing does any more. */
  readonly remember?: (written: (Encoded & { readonly revision: number }) | undefined) => void;
  /** The error for a request that lost every race. */
  exhausted(): Error;
}

interface Seen {
  readonly current: Current | undefined;
  readonly fresh: boolean;
}

/**
 * Runs `attempt` on the cached object and writes what it intends, guarded by the object's revision; when another writer was faster,
 * runs it again on the object that stood in the way. A refusal (an error thrown by `attempt`) or a no-op decided on a cached object
 * is decided again on a fresh one before it is believed. `attempt` must therefore be repeatable.
 */
export async function writeOptimistically(
  target: WriteTarget,
  attempt: (current: Current | undefined) => Promise<Intent>,
  signal: AbortSignal,
): Promise<Written> {
  const first = target.isUncached === true ? seenFresh(target, signal) : firstSeen(target, signal);
  let seen = first instanceof Promise ? await first : first;
  for (let tries = 0; tries < WRITE_ATTEMPTS_MAX; tries += 1) {
    const outcome = await tryOnce(target, attempt, seen, signal);
    if ('written' in outcome) return outcome.written;
    seen = outcome.next;
  }
  throw target.exhausted();
}

function firstSeen(target: WriteTarget, signal: AbortSignal): Eventually<Seen> {
  if (target.assumeAbsent) return { current: undefined, fresh: true };
  const cached = target.cached(signal);
  if (cached instanceof Promise) return cached.then((current) => ({ current, fresh: false }));
  return { current: cached, fresh: false };
}

async function seenFresh(target: WriteTarget, signal: AbortSignal): Promise<Seen> {
  if (target.assumeAbsent) return { current: undefined, fresh: true };
  return { current: await target.fresh(signal), fresh: true };
}

type Outcome = { readonly written: Written } | { readonly next: Seen };

async function tryOnce(
  target: WriteTarget,
  attempt: (current: Current | undefined) => Promise<Intent>,
  seen: Seen,
  signal: AbortSignal,
): Promise<Outcome> {
  let intent: Intent;
  try {
    intent = await attempt(seen.current);
  } catch (error) {
    return retryOnFreshObject(target, seen, error, signal);
  }
  const { reservation } = intent;
  try {
    const outcome = await carryOut(target, intent, seen, signal);
    if (!('written' in outcome)) await reservation?.release();
    else await reservation?.commit(outcome.written.revision);
    return outcome;
  } catch (error) {
    if (!signal.aborted && !isUnknownOutcome(error)) await reservation?.release();
    throw error;
  }
}

/** Another attempt, if what was refused was another object than the one that is there; else throws the refusal. */
async function retryOnFreshObject(
  target: WriteTarget,
  seen: Seen,
  refusal: unknown,
  signal: AbortSignal,
): Promise<{ readonly next: Seen }> {
  if (seen.fresh) throw refusal;
  const next = await target.fresh(signal);
  if (sameRevision(next, seen.current)) throw refusal;
  return { next: { current: next, fresh: true } };
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'unknown-outcome';
}

async function carryOut(
  target: WriteTarget,
  intent: Intent,
  seen: Seen,
  signal: AbortSignal,
): Promise<Outcome> {
  let encoded: Encoded;
  try {
    const encoding = target.encode(intent.object, signal, intent.kind === 'put' ? seen.current : undefined);
    encoded = encoding instanceof Promise ? await encoding : encoding;
  } catch (error) {
    return retryOnFreshObject(target, seen, error, signal);
  }
  const { plain } = encoded;
  if (intent.kind === 'none' || (intent.kind === 'put' && isNoOp(seen.current, plain))) {
    if (!seen.fresh) {
      const next = await target.fresh(signal);
      const mustWrite = intent.kind === 'put' && next?.stale === true;
      if (mustWrite || !sameRevision(next, seen.current)) return { next: { current: next, fresh: true } };
    }
    return { written: { kind: 'none', object: intent.object, plain, revision: seen.current?.revision ?? 0 } };
  }
  return store(target, { intent, encoded, current: seen.current }, signal);
}

function sameRevision(a: Current | undefined, b: Current | undefined): boolean {
  return a?.revision === b?.revision;
}

function isNoOp(current: Current | undefined, plain: Buffer): boolean {
  return current !== undefined && current.stale !== true && current.plain.equals(plain);
}

interface Pending {
  readonly intent: Intent;
  readonly encoded: Encoded;
  readonly current: Current | undefined;
}

async function store(target: WriteTarget, pending: Pending, signal: AbortSignal): Promise<Outcome> {
  const { intent, encoded, current } = pending;
  const { plain } = encoded;
  const kind = intent.kind === 'delete' ? 'deleted' : current === undefined ? 'created' : 'updated';
  if (target.dryRun) {
    return dryRun(target, pending, signal);
  }
  const outcome = await send(target, pending, signal);
  if (outcome.ok) {
    const { object, hasNewer = false } = encoded;
    const { revision: written } = outcome;
    target.remember?.(intent.kind === 'delete' ? undefined : { object, plain, hasNewer, revision: written });
    // What is answered about a removed object is the object as it last stood.
    const revision = intent.kind === 'delete' ? (current?.revision ?? 0) : outcome.revision;
    return { written: { kind, object: intent.object, plain, revision } };
  }
  const next = outcome.current === undefined ? undefined : await target.decode(outcome.current, signal);
  // A key that is as it was expected to be was not what stood in the way, but what the write relied on.
  if (intent.kind === 'put' && sameRevision(next, current)) await target.catchUp(outcome.revision, signal);
  return { next: { current: next, fresh: true } };
}

function send(
  { backend, key, ttlSeconds, announce }: WriteTarget,
  { intent, encoded, current }: Pending,
  signal: AbortSignal,
): ReturnType<Backend['create']> {
  if (intent.kind === 'delete') return backend.delete(key, current?.revision ?? 0, signal);
  const { plain: value } = encoded;
  announce?.(encoded);
  const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
  const { guards } = intent;
  const options = guards === undefined ? ttl : { ...ttl, guards };
  if (current === undefined) return backend.create(key, value, options, signal);
  return backend.update(key, value, { ...options, expected: current.revision }, signal);
}

/** Everything but the store: the guard is checked against a fresh read instead of by a transaction. */
async function dryRun(target: WriteTarget, pending: Pending, signal: AbortSignal): Promise<Outcome> {
  const { intent, encoded, current } = pending;
  const { plain } = encoded;
  const now = await target.fresh(signal);
  if (!sameRevision(now, current)) return { next: { current: now, fresh: true } };
  const kind = intent.kind === 'delete' ? 'deleted' : current === undefined ? 'created' : 'updated';
  return { written: { kind, object: intent.object, plain, revision: current?.revision ?? 0 } };
}
