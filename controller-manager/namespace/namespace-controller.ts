import { RESOURCE } from '../../shared/api/resource-names';
import type { Namespace } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import type { Discovery } from '../../shared/client/discovery';
import { discover, metadataResources } from '../../shared/client/discovery';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import { TIMER_MAX_MS } from '../../shared/concurrency/timer-max';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { runWorkers } from '../../shared/concurrency/work-loop';
import { getRetryAfterMs } from '../../shared/errors/status-error';
import { defined } from '../../shared/defined';
import { createInformer } from '../../shared/informer/informer';
import type { Log } from '../../shared/log/log';
import { FINALIZER } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import type { DeletionReport } from './conditions';
import { FAILURES, conditionsAfter } from './conditions';
import { deleteContent } from './content';
import { isTerminating } from '../runtime/namespace-object';
import { recordWarning } from '../runtime/record-event';
import { unservedTypes } from './unserved-types';

const REQUEUE_MS_MIN = 250;
const CONFLICT_TRIES_MAX = 5;
const COMPONENT = 'namespace-controller';

/**
 * Empties terminating namespaces, reports progress in their conditions, and releases them once nothing is left. No grace period for late
 * writes is needed: an object is stored only while its namespace is unchanged since admission, on every replica (ADR 23).
 */
export async function runNamespaceController(
  { client, reader, log, options, createQueue, clock }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const queue = createQueue();
  const deleter = new NamespaceDeleter({ client, events: reader, log, clock });
  const informer = createInformer({ client, resource: RESOURCE.namespaces, log });
  const enqueue = (namespace: Namespace): void => {
    if (!isTerminating(namespace)) return;
    deleter.noteSeen(namespace);
    queue.add(namespace.metadata.name ?? '');
  };
  informer.addHandler({
    onAdd: enqueue,
    onUpdate: (_before, after) => enqueue(after),
    onDelete: (last) => deleter.forget(last),
  });
  const resync = setInterval(
    () => {
      for (const namespace of informer.store.list()) enqueue(namespace);
    },
    Math.min(options.namespaceSyncPeriodMs, TIMER_MAX_MS),
  );
  resync.unref();
  try {
    await Promise.all([
      informer.run(signal),
      runWorkers(
        {
          queue,
          workers: options.concurrentNamespaceSyncs,
          log,
          reconcile: async (name, stop) => deleter.reconcile(name, stop),
          retryAfterMs: getRetryAfterMs,
        },
        signal,
      ),
    ]);
  } finally {
    clearInterval(resync);
  }
}

interface DeleterParts {
  readonly client: Client;
  /** The role of this controller in v1.21 may not create events; the role of the program may. */
  readonly events: Client;
  readonly log: Log;
  readonly clock: Clock;
}

class NamespaceDeleter {
  readonly #client: Client;
  readonly #events: Client;
  readonly #log: Log;
  readonly #clock: Clock;
  /** When the deletion of each namespace was first seen, by uid and the monotonic clock; one entry per terminating namespace. */
  readonly #seenMs = new Map<string, number>();

  constructor({ client, events, log, clock }: DeleterParts) {
    this.#client = client;
    this.#events = events;
    this.#log = log;
    this.#clock = clock;
  }

  noteSeen({ metadata: { uid = '' } }: Namespace): void {
    if (!this.#seenMs.has(uid)) this.#seenMs.set(uid, monotonicClock.now());
  }

  forget({ metadata: { uid = '' } }: Namespace): void {
    this.#seenMs.delete(uid);
  }

  /** Returns the time since the deletion was first seen, in milliseconds. */
  #ageMs({ metadata: { uid = '' } }: Namespace): number {
    const now = monotonicClock.now();
    return now - (this.#seenMs.get(uid) ?? now);
  }

  /** Runs one pass. Throws to be retried with backoff. */
  async reconcile(name: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const namespace = await this.#find(name, signal);
    if (namespace === undefined || !isTerminating(namespace) || !isHeld(namespace)) return undefined;
    const discovery = await this.#discover(signal);
    const resources = metadataResources(discovery.resources);
    const content = await deleteContent(this.#client, { namespace: name, resources }, signal);
    const report = { ...content, discovery };
    const current = await this.#tell(namespace, report, signal);
    if (current === undefined) return undefined;
    await this.#warn(current, signal);
    const errors = [...content.errors, ...discovery.failures.map(({ error }) => error)];
    const [first] = errors;
    if (first !== undefined) {
      throw new Error(`the content of namespace ${name} cannot be deleted: ${first.message}`, {
        cause: errors,
      });
    }
    if (discovery.malformed.length > 0) throw new Error('the server has a group version that cannot be read');
    if (content.remaining.size > 0) {
      return this.#waitForContent(name, content.estimateSeconds, this.#ageMs(namespace));
    }
    await this.#finalize(current, signal);
    this.#log.info({ namespace: name }, 'namespace finalized: it is empty');
    return undefined;
  }

  /** Failures that keep the namespace are also reported as events in the default namespace. */
  async #warn(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const parts = { client: this.#events, clock: this.#clock, log: this.#log };
    for (const { type, status, reason = '', message = '' } of namespace.status?.conditions ?? []) {
      if (status !== 'True' || !FAILURES.has(type)) continue;
      const about = { resource: { ...RESOURCE.namespaces, kind: 'Namespace' }, object: namespace };
      await recordWarning(parts, { about, reason, message, component: COMPONENT, key: reason }, signal);
    }
  }

  /** An undiscovered type counts like a group that does not answer: its content is unknown. */
  async #discover(signal: AbortSignal): Promise<Discovery> {
    const discovery = await discover(this.#client, { signal });
    const unserved = await unservedTypes(this.#client, discovery.resources, signal);
    return { ...discovery, failures: [...discovery.failures, ...unserved] };
  }

  /** At most half the estimate, as Kubernetes; earlier at first, when most content goes quickly. */
  #waitForContent(name: string, estimateSeconds: number, ageMs: number): Requeue {
    const mostMs = (Math.floor(estimateSeconds / 2) + 1) * 1000;
    const requeueAfterMs = Math.min(mostMs, Math.max(REQUEUE_MS_MIN, ageMs / 4));
    this.#log.debug(
      { namespace: name, estimateSeconds, requeueAfterMs },
      'namespace still has content; requeueing',
    );
    return { requeueAfterMs };
  }

  /** Writes phase and conditions if they differ. Returns undefined if the namespace is gone or was replaced. */
  async #tell(
    namespace: Namespace,
    report: DeletionReport,
    signal: AbortSignal,
  ): Promise<Namespace | undefined> {
    return this.#write(namespace, signal, (current) => {
      const now = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
      const conditions = conditionsAfter(current.status?.conditions ?? [], report, now);
      if (conditions === undefined && current.status?.phase === 'Terminating') return undefined;
      const status = {
        ...current.status,
        phase: 'Terminating',
        ...defined({ conditions }),
      };
      return this.#client.updateStatus<Namespace>(RESOURCE.namespaces, { ...current, status }, { signal });
    });
  }

  async #finalize(namespace: Namespace, signal: AbortSignal): Promise<void> {
    await this.#write(namespace, signal, (current) => {
      if (!isHeld(current)) return undefined;
      const finalizers = (current.spec?.finalizers ?? []).filter(
        (each) => each !== FINALIZER.namespaceContent,
      );
      return this.#client.update<Namespace>(
        RESOURCE.namespaces,
        { ...current, spec: { ...current.spec, finalizers } },
        { subresource: 'finalize', signal },
      );
    });
  }

  /** Calls `act` with the current namespace, again after a conflict. `act` returns undefined to write nothing. */
  async #write(
    namespace: Namespace,
    signal: AbortSignal,
    act: (current: Namespace) => Promise<Namespace> | undefined,
  ): Promise<Namespace | undefined> {
    let current = namespace;
    for (let tries = 1; ; tries += 1) {
      try {
        return (await act(current)) ?? current;
      } catch (error) {
        if (hasCode(error, 404)) return undefined;
        if (!hasCode(error, 409) || tries === CONFLICT_TRIES_MAX) throw error;
      }
      const latest = await this.#find(namespace.metadata.name ?? '', signal);
      if (latest === undefined || latest.metadata.uid !== namespace.metadata.uid) return undefined;
      current = latest;
    }
  }

  async #find(name: string, signal: AbortSignal): Promise<Namespace | undefined> {
    try {
      return await this.#client.get<Namespace>(RESOURCE.namespaces, { name }, { signal });
    } catch (error) {
      if (hasCode(error, 404)) return undefined;
      throw error;
    }
  }
}

function isHeld({ spec }: Namespace): boolean {
  return (spec?.finalizers ?? []).includes(FINALIZER.namespaceContent);
}
