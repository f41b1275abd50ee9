import { performance } from 'node:perf_hooks';
import { StatusError } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { Admission, AdmissionAttributes } from '../../engine/registry/admission';
import type { AdmissionMetrics, ObserveDecision, Phase } from './admission-metrics';
import type { Reading } from '../cluster/cluster-reader';
import type { AdmissionPlugin, NamedPlugin } from './plugin';
import { firstInvocation } from './plugin';
import { WriteKinds } from './write-kinds';

export interface AdmissionParts {
  /** In order of invocation. */
  readonly plugins: readonly NamedPlugin[];
  /** Creates a reader for one decision of one plugin. */
  readonly newReading: () => Reading;
  readonly metrics: AdmissionMetrics;
}

interface Asked {
  readonly plugin: AdmissionPlugin;
  readonly observe: ObserveDecision;
}

/** The plugins of one phase for one kind of write. */
interface AskedInPhase {
  readonly plugins: readonly Asked[];
  readonly observe: ObserveDecision;
}

/**
 * Invokes the matching plugins in order: first all mutating ones (twice if one requests reinvocation), then all validating ones. The
 * first that throws refuses the request. A refusal that used cached objects is decided again on fresh ones. Synchronous decisions create
 * no promise, as for most writes.
 */
export function createAdmission(parts: AdmissionParts): Admission {
  const toAdmit = askedIn('admit', parts);
  const toValidate = askedIn('validate', parts);
  return {
    mutate: (attributes, signal) => {
      const { plugins, observe } = toAdmit(attributes);
      const startedAt = performance.now();
      const reinvocation = firstInvocation();
      const pass = (given: AdmissionAttributes, from: number): Decided<AdmissionAttributes> => {
        let current = given;
        for (let at = from; ; at += 1) {
          const asked = plugins[at];
          if (asked === undefined) return current;
          const seen = current;
          const object = decide(
            parts,
            { asked, evaluate: (cluster) => asked.plugin.mutate?.(seen, cluster, signal, reinvocation) },
            signal,
          );
          if (object instanceof Promise) return object.then((later) => pass(withObject(seen, later), at + 1));
          current = withObject(seen, object);
        }
      };
      const first = pass(attributes, 0);
      if (!(first instanceof Promise) && !reinvocation.wantsSecond) {
        observe(false, performance.now() - startedAt);
        return first.object;
      }
      return timed(observe, startedAt, async () => {
        const once = await first;
        if (!reinvocation.wantsSecond) return once.object;
        reinvocation.isSecond = true;
        return (await pass(once, 0)).object;
      });
    },
    validate: (attributes, signal) => {
      const { plugins, observe } = toValidate(attributes);
      const startedAt = performance.now();
      const pass = (from: number): Decided<void> => {
        for (let at = from; ; at += 1) {
          const asked = plugins[at];
          if (asked === undefined) return undefined;
          const decision = decide(
            parts,
            { asked, evaluate: (cluster) => asked.plugin.validate?.(attributes, cluster, signal) },
            signal,
          );
          if (decision instanceof Promise) return decision.then(() => pass(at + 1));
        }
      };
      const all = pass(0);
      if (all instanceof Promise) return timed(observe, startedAt, () => all);
      observe(false, performance.now() - startedAt);
      return undefined;
    },
  };
}

function withObject(seen: AdmissionAttributes, object: ApiObject | undefined): AdmissionAttributes {
  return object === undefined || object === seen.object ? seen : { ...seen, object };
}

/** Finds the matching plugins, once for each kind of write. */
function askedIn(
  type: Phase,
  { plugins, metrics }: AdmissionParts,
): (attributes: AdmissionAttributes) => AskedInPhase {
  const kinds = new WriteKinds<AskedInPhase>();
  const isOfPhase = (plugin: AdmissionPlugin): boolean =>
    type === 'admit' ? plugin.mutate !== undefined : plugin.validate !== undefined;
  return (attributes) =>
    kinds.of(attributes, () => {
      const { operation } = attributes;
      const { endpoint, subresource } = attributes.write;
      const { group, resource, namespaced } = endpoint.row;
      const subject = { operation, group, resource, subresource, namespaced };
      const kind = { type, operation };
      return {
        plugins: plugins
          .filter(({ plugin }) => isOfPhase(plugin) && plugin.concerns(subject))
          .map(({ name, plugin }) => ({ plugin, observe: metrics.ofPlugin(name, kind) })),
        observe: metrics.ofPhase(kind),
      };
    });
}

type Decided<T> = Promise<T> | T;

/** One decision of one plugin. A synchronous decision creates no promise: a pod needs a dozen. */
function decide<T>(
  { newReading }: AdmissionParts,
  {
    asked: { observe },
    evaluate,
  }: { readonly asked: Asked; readonly evaluate: (reading: Reading) => Decided<T> },
  signal: AbortSignal,
): Decided<T> {
  const startedAt = performance.now();
  const reading = newReading();
  let first: Decided<T>;
  try {
    first = evaluate(reading);
  } catch (error) {
    first = refused(error);
  }
  if (!(first instanceof Promise) && !reading.isOutdated()) {
    observe(false, performance.now() - startedAt);
    return first;
  }
  return timed(observe, startedAt, async () => {
    if (await counts(first, reading)) return first;
    await reading.freshen(signal);
    return evaluate(reading);
  });
}

async function refused(error: unknown): Promise<never> {
  throw error;
}

/**
 * Reports whether the decision is final: no refusal on stale reads, and no admission on outdated ones. Throws errors that are no
 * refusals.
 */
async function counts(decision: Decided<unknown>, reading: Reading): Promise<boolean> {
  try {
    await decision;
    return !reading.isOutdated();
  } catch (error) {
    if (!(error instanceof StatusError) || !reading.isStale()) throw error;
    return false;
  }
}

async function timed<T>(observe: ObserveDecision, startedAt: number, work: () => Promise<T>): Promise<T> {
  let rejected = true;
  try {
    const result = await work();
    rejected = false;
    return result;
  } finally {
    observe(rejected, performance.now() - startedAt);
  }
}
