import type { ApiObject } from '../../../shared/object/object';
import type { Backend, Guard, StoredRecord } from '../storage/backend';
import { StorageError } from '../storage/backend';
import { withOwnersOf } from './fieldmanager/entries';
import type { KnownObject } from '../watch-cache/recent-objects';
import type { Reservation } from './reservation';

/** Maximum number of attempts of one request. */
export const WRITE_ATTEMPTS_MAX = 12;

/** The object as a write finds it. The stored bytes are compared with the new ones to detect a no-op. */
export interface Current extends KnownObject {
  /** The stored form is outdated, so that an unchanged object is written all the same. */
  readonly stale?: boolean;
  /**
   * The object with the fields that a later release has stored and this one does not know; absent if there
   * are none.
   */
  readonly newer?: ApiObject;
  /**
   * This server wrote the object, so it has no such fields. Looking for them would cost half as much as
   * decoding.
   */
  readonly isKnown?: boolean;
}

/** What an attempt intends to do with the object. */
export interface Intent {
  readonly kind: 'put' | 'delete' | 'none';
  readonly object: ApiObject;
  /** Only for a put: records that must not change before it. */
  readonly guards?: readonly Guard[];
  /** What the attempt has reserved; it is committed or released in the end. */
  readonly reservation?: Reservation;
  /** Where the object is written. Absent: the target of the attempt. */
  readonly target?: WriteTarget;
}

export interface Written {
  /** `none`: nothing was written; the object is as stored. */
  readonly kind: 'created' | 'updated' | 'deleted' | 'none';
  readonly object: ApiObject;
  /** The encoded object without resourceVersion, as stored. */
  readonly plain: Buffer;
  /** The revision of the stored object; for a removed one, its last revision. */
  readonly revision: number;
}

/** The stored form of an object, without resourceVersion, and its bytes. */
export interface Encoded {
  readonly object: ApiObject;
  readonly plain: Buffer;
  /** It has fields that this release does not know. */
  readonly hasNewer?: boolean;
}

/** A promise only if the encoding is offloaded. */
type Eventually<T> = T | Promise<T>;

export interface WriteTarget {
  readonly backend: Backend;
  /** The absolute key. */
  readonly key: string;
  readonly ttlSeconds: number | undefined;
  readonly dryRun: boolean;
  /** For creations: the first attempt assumes that the object is absent, and the transaction checks it. */
  readonly assumeAbsent: boolean;
  /** The cache does not have the resource, so the first attempt reads the object from the store. */
  readonly isUncached?: boolean;
  /** The cached object. It may be stale, so it must only lead to a transaction. */
  cached(signal: AbortSignal): Eventually<Current | undefined>;
  /** The object, at least as fresh as a read index requested now. */
  fresh(signal: AbortSignal): Promise<Current | undefined>;
  /** Waits until the next attempt sees other objects as of this revision or later. */
  catchUp(revision: number, signal: AbortSignal): Promise<void>;
  decode(record: StoredRecord, signal: AbortSignal): Eventually<Current>;
  /** `over`: the object that is replaced. Throws if the object cannot be encoded. */
  encode(object: ApiObject, signal: AbortSignal, over?: Current): Eventually<Encoded>;
  /** Called before a write is sent to the store. */
  readonly announce?: (encoded: Encoded) => void;
  /** Called with the stored object after a write; undefined after a removal. */
  readonly remember?: (written: (Encoded & { readonly revision: number }) | undefined) => void;
  /** Waits, after a write, until it applies to later requests. Absent: its effect may be seen later. Never rejects. */
  readonly settle?: (revision: number, signal: AbortSignal) => Promise<void>;
  /** The error of a request that lost every race. */
  exhausted(): Error;
}

interface Seen {
  readonly current: Current | undefined;
  readonly fresh: boolean;
}

/**
 * Optimistic concurrency: runs `attempt` on the cached object and writes its intent, guarded by the object's
 * revision. If another writer was faster, it retries on the newer object. A refusal (an error thrown by
 * `attempt`) or a no-op that was decided on a cached object is decided again on a fresh one. `attempt` must
 * therefore be repeatable.
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
    const outcome = await carryOut(intent.target ?? target, intent, seen, signal);
    if (!('written' in outcome)) await reservation?.release();
    else await reservation?.commit(outcome.written.revision);
    return outcome;
  } catch (error) {
    if (!signal.aborted && !isUnknownOutcome(error)) await reservation?.release();
    throw error;
  }
}

/** Retries if the refused object was outdated; else throws the refusal. */
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
  asked: Intent,
  seen: Seen,
  signal: AbortSignal,
): Promise<Outcome> {
  let pending: Pending;
  try {
    pending = await encodeIntent(target, asked, seen.current, signal);
  } catch (error) {
    return retryOnFreshObject(target, seen, error, signal);
  }
  const { intent, encoded } = pending;
  const { plain } = encoded;
  if (intent.kind === 'none' || (intent.kind === 'put' && isNoOp(seen.current, plain))) {
    if (!seen.fresh) {
      const next = await target.fresh(signal);
      const mustWrite = intent.kind === 'put' && next?.stale === true;
      if (mustWrite || !sameRevision(next, seen.current)) return { next: { current: next, fresh: true } };
    }
    return { written: { kind: 'none', object: intent.object, plain, revision: seen.current?.revision ?? 0 } };
  }
  return store(target, pending, signal);
}

/** Encodes the object. One that would change only the times of managedFields keeps them, and so changes nothing. */
async function encodeIntent(
  target: WriteTarget,
  intent: Intent,
  current: Current | undefined,
  signal: AbortSignal,
): Promise<Pending> {
  const over = intent.kind === 'put' ? current : undefined;
  const encoding = target.encode(intent.object, signal, over);
  const encoded = encoding instanceof Promise ? await encoding : encoding;
  const timeless = over && withoutNewTimes(over, intent.object, encoded);
  if (over === undefined || timeless === undefined) return { intent, encoded, current };
  const again = await target.encode(timeless, signal, over);
  if (!again.plain.equals(over.plain)) return { intent, encoded, current };
  return { intent: { ...intent, object: timeless }, encoded: again, current };
}

/**
 * The object with the managedFields of the current one, if nothing else may have changed. Times have one
 * length, so other bytes of another length are a change.
 */
function withoutNewTimes(current: Current, next: ApiObject, { plain }: Encoded): ApiObject | undefined {
  const isTracked = current.object.metadata.managedFields !== undefined;
  if (isTracked && plain.length !== current.plain.length) return undefined;
  return withOwnersOf(current.object, next);
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
    if (target.settle !== undefined) await target.settle(written, signal);
    // A deletion returns the object as it was last stored.
    const revision = intent.kind === 'delete' ? (current?.revision ?? 0) : outcome.revision;
    return { written: { kind, object: intent.object, plain, revision } };
  }
  const next = outcome.current === undefined ? undefined : await target.decode(outcome.current, signal);
  // The key did not change, so one of the guards failed.
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

/** A dry run: the guard is checked by a fresh read instead of a transaction. */
async function dryRun(target: WriteTarget, pending: Pending, signal: AbortSignal): Promise<Outcome> {
  const { intent, encoded, current } = pending;
  const { plain } = encoded;
  const now = await target.fresh(signal);
  if (!sameRevision(now, current)) return { next: { current: now, fresh: true } };
  const kind = intent.kind === 'delete' ? 'deleted' : current === undefined ? 'created' : 'updated';
  return { written: { kind, object: intent.object, plain, revision: current?.revision ?? 0 } };
}
