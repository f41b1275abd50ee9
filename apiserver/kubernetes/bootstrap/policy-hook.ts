import type { RbacKinds } from '../auth/rbac/binding';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { pause } from '../../../shared/concurrency/pause';
import type { Log } from '../../../shared/log/log';
import type { ApiObject } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import { StatusError, timeout } from '../../../shared/errors/status-error';
import { createObject } from '../../engine/registry/create';
import { deleteObject } from '../../engine/registry/delete';
import type { KindSettings } from '../../engine/registry/strategy';
import type { WriteContext } from '../../engine/registry/write-context';
import { currentFromCache, readFresh } from '../../engine/registry/current';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { relativeKey } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';
import { policyObjects } from './policy-objects';
import { reconciledBinding, reconciledRole } from './reconciled-policy';

/** Maximum number of concurrent writes. */
const WRITES_AT_ONCE = 8;
/** Maximum number of attempts per object on conflicts with other writers. */
const TRIES_MAX = 3;
/** Delay in ms before a retry, because a temporary failure of the store must not end the start. */
const ROUND_PAUSE_MS = 1_000;
const ROUNDS_MAX = 30;
const RETRY_AFTER_SECONDS = 1;
const SERVER_ERRORS_MIN = 500;

export interface PolicyHookParts {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly log: Log;
  /** The feature settings; some roles depend on them. Default: those of v1.21. */
  readonly kindSettings?: KindSettings;
}

/** Reconciles the default roles and bindings at the start and after a store was replaced. */
export interface PolicyHook {
  /** Idempotent and safe to run concurrently. Rejects after half a minute of failures. */
  run(signal: AbortSignal): Promise<void>;
}

export function createPolicyHook(parts: PolicyHookParts): PolicyHook {
  return {
    run: async (signal) => {
      for (let round = 1; ; round += 1) {
        try {
          await reconcilePolicy(parts, signal);
          return;
        } catch (error) {
          if (signal.aborted || round >= ROUNDS_MAX) throw error;
          parts.log.warn({ error: String(error) }, 'failed to reconcile the default RBAC roles; retrying');
          await pause(ROUND_PAUSE_MS, signal);
        }
      }
    },
  };
}

async function reconcilePolicy(
  { store, registry, log, kindSettings }: PolicyHookParts,
  signal: AbortSignal,
): Promise<void> {
  await catchUp({ store, registry }, signal);
  for (const { resource, objects } of policyObjects(kindSettings)) {
    const endpoint = registry().endpoint(GROUP.rbac, 'v1', resource);
    if (endpoint === undefined) continue;
    const reconciled = reconcilerOf(resource);
    await forEachLimited(objects, WRITES_AT_ONCE, async (object) => {
      const expected = ownObject(endpoint, object);
      const wanted = { store, endpoint, expected, reconciled, log };
      try {
        await ensure(wanted, signal);
      } catch (error) {
        if (!isPermanent(error)) throw error;
        logSkipped(wanted, error.message);
      }
    });
  }
}

/** Waits until the cache has seen all earlier deletions and changes. */
async function catchUp(
  { store: { cache, cacheWaitMs: timeoutMs }, registry }: Pick<PolicyHookParts, 'store' | 'registry'>,
  signal: AbortSignal,
): Promise<void> {
  const of = policyObjects()
    .flatMap(({ resource }) => registry().endpoint(GROUP.rbac, 'v1', resource) ?? [])
    .map(({ stored }) => cache.resource(stored.keyPrefix));
  if ((await cache.freshen({ of, timeoutMs, refill: 'wait' }, signal)) === 'fresh') return;
  throw timeout('the cache of this server is behind the store', RETRY_AFTER_SECONDS);
}

/** Returns whether a retry would fail in the same way. */
function isPermanent(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status.code < SERVER_ERRORS_MIN;
}

type Reconcile<T extends ApiObject> = (existing: T, expected: T) => ApiObject | undefined;

const RECONCILERS: { readonly [Resource in keyof RbacKinds]: Reconcile<RbacKinds[Resource]> } = {
  clusterroles: reconciledRole,
  clusterrolebindings: reconciledBinding,
  roles: reconciledRole,
  rolebindings: reconciledBinding,
};

/** Erases the type of the kind. This is safe because the objects of a resource are decoded as its kind. */
function reconcilerOf(resource: keyof RbacKinds): Reconcile<ApiObject> {
  return RECONCILERS[resource] as Reconcile<never> as Reconcile<ApiObject>;
}

interface Wanted {
  readonly store: WriteContext;
  readonly endpoint: Endpoint;
  readonly expected: ApiObject;
  /** Undefined if the object must be deleted and recreated. */
  readonly reconciled: Reconcile<ApiObject>;
  readonly log: Log;
}

async function ensure(wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { store, endpoint, expected } = wanted;
  const { name = '', namespace = '' } = expected.metadata;
  const key = relativeKey(endpoint.stored, namespace, name);
  let existing = currentFromCache(store, endpoint, key);
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if (await createOrUpdate(wanted, existing?.object, signal)) return;
    existing = await readFresh(store, endpoint, key, signal);
  }
  logSkipped(wanted, 'too many conflicts, or its deletion is blocked');
}

/** A single object that cannot be updated must not keep the server from serving. */
function logSkipped({ endpoint, expected, log }: Wanted, why: string): void {
  const { name, namespace } = expected.metadata;
  const fields = { resource: endpoint.row.resource, namespace, object: name, error: why };
  log.error(fields, 'failed to reconcile a default RBAC role or binding');
}

/** Creates or updates the object; returns false if another writer was faster. */
async function createOrUpdate(
  wanted: Wanted,
  existing: ApiObject | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, expected, reconciled } = wanted;
  const request = ownRequest(wanted.endpoint, expected.metadata);
  if (existing === undefined) return succeeds(createObject(store, request, expected, signal));
  const next = reconciled(existing, expected);
  if (next === existing) return true;
  if (next === undefined) {
    const options = { dryRun: false, preconditions: { uid: existing.metadata.uid ?? '' } };
    tell(wanted, 'recreating a default RBAC binding: it refers to another role');
    const isGone = await succeeds(deleteObject(store, request, options, signal));
    return isGone && succeeds(createObject(store, request, expected, signal));
  }
  // If the object became protected or must be recreated, the next attempt detects it.
  const change = (current: ApiObject | undefined): ApiObject =>
    reconciled(current ?? existing, expected) ?? current ?? existing;
  tell(wanted, 'updating a default RBAC role or binding: it lacks permissions or subjects');
  return succeeds(updateObject(store, request, { change, options: { creates: 'never' } }, signal));
}

function tell({ endpoint, expected, log }: Wanted, text: string): void {
  const { name, namespace } = expected.metadata;
  log.info({ resource: endpoint.row.resource, namespace, object: name }, text);
}

/** Returns false if another writer created, changed or deleted the object meanwhile. */
async function succeeds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason === 'AlreadyExists' || reason === 'NotFound' || reason === 'Conflict') return false;
    throw error;
  }
}
