import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import type { Requeue } from '../../../shared/concurrency/work-loop';
import { StatusError } from '../../../shared/errors/status-error';
import type { CustomResourceDefinition } from '../../../shared/api/types/apiextensions-v1';
import { FINALIZER } from '../../../shared/names';
import { API_SERVER_USER } from '../../engine/registry/api-server-user';
import type { Condition } from '../../engine/registry/conditions';
import { withCondition } from '../../engine/registry/conditions';
import { deleteObject } from '../../engine/registry/delete';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Entry } from '../../engine/watch-cache/state/entry';
import type { CustomEndpoints } from './custom-endpoints';
import type { CustomResources } from './custom-resources';
import type { Definition } from './definition';
import type { DefinitionWriter } from './definition-writer';

const DELETIONS_AT_ONCE = 16;
/** Time in ms after which remaining objects are reported as a problem, and the poll interval. */
const EMPTY_WAIT_MS = 60_000;
const EMPTY_LOOK_MS = 100;

export interface CleanupParts {
  readonly store: WriteContext;
  readonly custom: CustomResources;
  readonly writer: DefinitionWriter;
}

/** `since` is a reading of the clock of `performance`, in ms. */
interface Wait {
  readonly uid: string;
  readonly since: number;
}

/**
 * Deletes every object of a terminating definition, waits until none is left, and removes the cleanup finalizer. All replicas may run it
 * concurrently: a lost race counts as done, and writes are conditional on the definition being unchanged.
 */
export class Cleanup {
  readonly #parts: CleanupParts;
  /** Keyed by the name of the terminating definition. */
  readonly #waits = new Map<string, Wait>();

  constructor(parts: CleanupParts) {
    this.#parts = parts;
  }

  /** Runs one step. Returns when to run the next one while objects are left. Throws if objects cannot be deleted in time. */
  async step(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const parts = this.#parts;
    const definition = parts.custom.definition(name);
    if (definition?.awaitsCleanup !== true) {
      this.#waits.delete(name);
      return undefined;
    }
    // Drop the entry of an earlier definition with the same name.
    if (this.#waits.get(name)?.uid !== definition.uid) this.#waits.delete(name);
    const endpoints = parts.custom.endpoints(name);
    if (endpoints === undefined) {
      await removeFinalizer(
        parts,
        definition,
        definition.isEstablished ? OVERLAPPING : NEVER_ESTABLISHED,
        signal,
      );
      return undefined;
    }
    const wait = this.#waits.get(name) ?? (await this.#begin(definition, endpoints, signal));
    if (wait === undefined) return undefined;
    if (isEmpty(parts, endpoints)) {
      await parts.custom.confirm(signal);
      if (isEmpty(parts, endpoints)) await removeFinalizer(parts, definition, COMPLETED, signal);
    } else if (performance.now() - wait.since > EMPTY_WAIT_MS) {
      this.#waits.delete(name);
      await writeCondition(parts, definition, NOT_EMPTY, signal);
      throw new Error(NOT_EMPTY.message);
    }
    return { requeueAfterMs: EMPTY_LOOK_MS };
  }

  /** Returns undefined if the definition changed in the meantime. */
  async #begin(
    definition: Definition,
    endpoints: CustomEndpoints,
    signal: AbortSignal,
  ): Promise<Wait | undefined> {
    const parts = this.#parts;
    const { name, uid } = definition;
    if (!(await writeCondition(parts, definition, IN_PROGRESS, signal))) return undefined;
    try {
      if (!(await deleteAll(parts, definition, endpoints, signal))) return undefined;
    } catch (error) {
      if (!signal.aborted) await writeCondition(parts, definition, failedCondition(error), signal);
      throw error;
    }
    const wait = { uid, since: performance.now() };
    this.#waits.set(name, wait);
    return wait;
  }
}

function isEmpty({ store }: CleanupParts, { stored }: CustomEndpoints): boolean {
  if (!store.cache.hasResource(stored.keyPrefix)) return false;
  const cache = store.cache.resource(stored.keyPrefix);
  return cache.isReady && cache.snapshot().count() === 0;
}

const TERMINATING = { type: 'Terminating', status: 'True' } as const;
const TERMINATED = { type: 'Terminating', status: 'False' } as const;

const IN_PROGRESS: Condition = {
  ...TERMINATING,
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};
const NOT_EMPTY: Condition = {
  ...TERMINATING,
  reason: 'InstanceDeletionCheck',
  message: 'could not confirm zero CustomResources remaining: timed out waiting for the condition',
};
const COMPLETED: Condition = {
  ...TERMINATED,
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
};
const NEVER_ESTABLISHED: Condition = {
  ...TERMINATED,
  reason: 'NeverEstablished',
  message: 'resource was never established',
};
const OVERLAPPING: Condition = {
  ...TERMINATED,
  reason: 'OverlappingBuiltInResource',
  message: 'instances overlap with built-in resources in storage',
};

function failedCondition(error: unknown): Condition {
  const why = error instanceof Error ? error.message : String(error);
  return {
    ...TERMINATING,
    reason: 'InstanceDeletionFailed',
    message: `could not issue all deletes: ${why}`,
  };
}

/**
 * Returns the current definition if it still has the UID of the original decision. Another definition may have taken the name, and
 * neither it nor its objects may be touched.
 */
function findUnchanged(
  { custom }: CleanupParts,
  { name, uid }: Definition,
): CustomResourceDefinition | undefined {
  const now = custom.definition(name);
  return now?.uid === uid && now.awaitsCleanup ? custom.source(name)?.object : undefined;
}

/** Returns false if the definition changed in the meantime. */
async function writeCondition(
  parts: CleanupParts,
  definition: Definition,
  condition: Condition,
  signal: AbortSignal,
): Promise<boolean> {
  const { custom, writer } = parts;
  await custom.confirm(signal);
  const object = findUnchanged(parts, definition);
  if (object === undefined) return false;
  const next = withCondition(object, condition, writer.nowMs);
  return next === object || writer.write(next, 'status', signal);
}

async function removeFinalizer(
  parts: CleanupParts,
  definition: Definition,
  condition: Condition,
  signal: AbortSignal,
): Promise<void> {
  const { custom, writer } = parts;
  await custom.confirm(signal);
  const object = findUnchanged(parts, definition);
  if (object === undefined) return;
  await writer.write(withoutFinalizer(withCondition(object, condition, writer.nowMs)), 'cleanup', signal);
}

function withoutFinalizer(object: CustomResourceDefinition): CustomResourceDefinition {
  const { finalizers = [], ...metadata } = object.metadata;
  const left = finalizers.filter((each) => each !== FINALIZER.customResourceCleanup);
  return { ...object, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } };
}

/** Returns false if the definition changed in the meantime. */
async function deleteAll(
  parts: CleanupParts,
  definition: Definition,
  { hub }: CustomEndpoints,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, custom } = parts;
  await custom.confirm(signal);
  const cache = store.cache.resource(hub.stored.keyPrefix);
  await cache.whenReady(signal);
  if (findUnchanged(parts, definition) === undefined) return false;
  const entries = [...cache.snapshot().entries()];
  // Each replica starts at a random entry, so that concurrent replicas share the work.
  const start = store.randomInt(Math.max(1, entries.length));
  let isFailing = false;
  await forEachLimited(
    [...entries.slice(start), ...entries.slice(0, start)],
    DELETIONS_AT_ONCE,
    async ({ key, namespace, name, uid }: Entry) => {
      signal.throwIfAborted();
      if (isFailing || cache.get(key)?.uid !== uid) return;
      const user = API_SERVER_USER;
      const request = { endpoint: hub, namespace, name, subresource: '', user, dryRun: false };
      const options = { dryRun: false, preconditions: { uid } };
      await unlessGone(deleteObject(store, request, options, signal)).catch((error: unknown) => {
        isFailing = true;
        throw error;
      });
    },
  );
  return true;
}

/** Errors which mean that the object is already deleted or replaced by another one with its name. */
const GONE: ReadonlySet<unknown> = new Set(['NotFound', 'Conflict']);

async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof StatusError) || !GONE.has(error.status.reason)) throw error;
  }
}
