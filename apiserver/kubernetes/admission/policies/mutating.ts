import type { MutatingAdmissionPolicy } from '../../../../shared/api/types/admissionregistration-v1';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Steps } from '../../../../shared/concurrency/steps';
import { runSteps, waitFor } from '../../../../shared/concurrency/steps';
import { StatusError, notFound } from '../../../../shared/errors/status-error';
import type { StatusReason } from '../../../../shared/errors/status-error';
import { GROUP } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { converting } from '../../../engine/registry/conversion-needed';
import type { Note } from '../../../engine/registry/write-notes';
import { NAMESPACES } from '../../cluster/resources';
import { OutOfBudgetError } from '../expressions/evaluator';
import type { CheckError } from '../expressions/expression-metrics';
import type { AdmissionPlugin, Reinvocation } from '../plugin';
import { firstInvocation } from '../plugin';
import { refusal } from '../refusal';
import { settledMetadata } from '../webhooks/managed-fields';
import type { ReviewedObject } from '../webhooks/reviewed-object';
import { MutatingPolicy, MutationError } from './mutating-policy';
import type { Mutate } from './mutating-policy';
import type { Binding } from './policy';
import { isExempt } from './policy';
import type { BoundParam, PolicyParts } from './policy-run';
import { PolicyRun } from './policy-run';
import { PolicySource } from './source';
import type { PolicyHook } from './source';

/** State of the first invocation for the second. */
interface Memory {
  /** Policies to reinvoke after a later change, by policy, binding and parameter. */
  readonly asked: Set<string>;
  readonly again: Set<string>;
  output: ApiObject | undefined;
}

const MEMORY: Note<Memory> = { begin: () => ({ asked: new Set(), again: new Set(), output: undefined }) };

/**
 * Applies MutatingAdmissionPolicies one after the other, in the order of policies and bindings (k8s.io/apiserver
 * `admission/plugin/policy/mutating`). After a change, all plugins run once more, and policies with reinvocationPolicy IfNeeded.
 */
export function mutatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const source = new PolicySource<MutatingPolicy>(
    {
      policies: { group: GROUP.admissionregistration, resource: 'mutatingadmissionpolicies' },
      bindings: { group: GROUP.admissionregistration, resource: 'mutatingadmissionpolicybindings' },
      policyOf: (object) => new MutatingPolicy(object as MutatingAdmissionPolicy),
    },
    parts,
  );
  return {
    concerns: ({ operation }) => operation !== 'DELETE',
    mutate(attributes, _cluster, signal, reinvocation = firstInvocation()) {
      if (isExempt(attributes)) return attributes.object;
      const hooks = source.hooks(attributes);
      if (hooks?.length === 0) return attributes.object;
      const run = new MutationRun(new PolicyRun(parts, attributes, signal), reinvocation);
      return runSteps(run.mutate(hooks ?? source.settle(attributes, signal)));
    },
  };
}

interface Invocation extends BoundParam {
  readonly policy: MutatingPolicy;
}

interface PolicyProblem {
  readonly message: string;
  readonly reason: StatusReason | '';
}

/** The policies of one write, in one of its invocations. */
class MutationRun {
  readonly #run: PolicyRun;
  readonly #attributes: AdmissionAttributes;
  readonly #reinvocation: Reinvocation;
  readonly #memory: Memory;
  readonly #signal: AbortSignal;
  readonly #problems: PolicyProblem[] = [];
  readonly #oldObject: ReviewedObject | undefined;
  #object: ReviewedObject | undefined;
  #hasPatched = false;
  #result: ApiObject | undefined;

  constructor(run: PolicyRun, reinvocation: Reinvocation) {
    const { attributes, signal } = run;
    this.#run = run;
    this.#attributes = attributes;
    this.#reinvocation = reinvocation;
    this.#memory = reinvocation.notes.of(MEMORY);
    this.#signal = signal;
    this.#oldObject = run.reviewed(attributes.oldObject);
    this.#object = run.reviewed(attributes.object);
    this.#result = attributes.object;
  }

  *mutate(
    found: readonly PolicyHook<MutatingPolicy>[] | Promise<readonly PolicyHook<MutatingPolicy>[]>,
  ): Steps<ApiObject | undefined> {
    const hooks = found instanceof Promise ? yield* waitFor(found) : found;
    const invocations: Invocation[] = [];
    for (const hook of hooks) {
      const { policy } = hook;
      const fail = (binding: Binding | undefined, why: string): void => this.#fail(policy, binding, why);
      const use = (bound: BoundParam): undefined => {
        invocations.push({ policy, ...bound });
      };
      yield* this.#run.apply(hook, { use, fail });
    }
    if (invocations.length > 0) yield* this.#invokeAll(invocations);
    this.#refuse();
    return this.#result;
  }

  #fail(
    policy: MutatingPolicy,
    binding: Binding | undefined,
    why: string,
    reason: StatusReason | '' = '',
  ): void {
    if (policy.failsOpen) return;
    const who =
      binding === undefined
        ? `policy ${JSON.stringify(policy.name)}`
        : `policy '${policy.name}' with binding '${binding.name}'`;
    this.#problems.push({ message: `${who} denied request: ${why}`, reason });
  }

  /** Throws the errors of all policies; the first one gives message and reason. */
  #refuse(): void {
    const [first] = this.#problems;
    if (first === undefined) return;
    const { status } = refusal(this.#attributes, '');
    throw new StatusError(first.reason === '' ? 'Forbidden' : first.reason, first.message, {
      code: status.code,
      details: { ...status.details, causes: this.#problems.map(({ message }) => ({ message })) },
    });
  }

  *#invokeAll(invocations: readonly Invocation[]): Steps<void> {
    const memory = this.#memory;
    const { isSecond } = this.#reinvocation;
    if (isSecond && !deepEqual(memory.output, this.#attributes.object)) this.#askAgain();
    const namespaceObject = yield* this.#run.namespaceObject();
    const { namespace } = this.#attributes.write;
    if (namespaceObject === undefined && namespace !== '') throw notFound(NAMESPACES, namespace);
    const slices = new Slices();
    for (const invocation of invocations) {
      yield* this.#invoke(invocation, namespaceObject);
      if (slices.due()) yield* waitFor(slices.pause());
      this.#signal.throwIfAborted();
    }
    if (this.#hasPatched) {
      this.#askAgain();
      this.#reinvocation.wantsSecond = true;
    }
    const { object } = this.#object ?? {};
    memory.output = object && settledMetadata(this.#attributes, object);
    this.#result = memory.output;
  }

  *#invoke(invocation: Invocation, namespaceObject: ApiObject | undefined): Steps<void> {
    const { policy, binding, endpoint, params } = invocation;
    const { access, shared, parts } = this.#run;
    const input = { shared, endpoint, params, namespaceObject, access, variables: policy.variables };
    const result = yield* policy.matches({ ...input, ...this.#objects() }, parts.metrics, this.#signal);
    if (result.error !== undefined) this.#fail(policy, binding, result.error, 'Invalid');
    if (!result.matches) return;
    const key = JSON.stringify([
      policy.name,
      binding.name,
      params?.metadata.namespace,
      params?.metadata.name,
    ]);
    if (this.#reinvocation.isSecond && !this.#memory.again.has(key)) return;
    const before = this.#object?.object;
    for (const mutate of policy.mutations) yield* waitFor(this.#mutate(mutate, invocation, input));
    if (!deepEqual(before, this.#object?.object)) {
      this.#askAgain();
      this.#reinvocation.wantsSecond = true;
    }
    if (policy.isReinvoked) this.#memory.asked.add(key);
  }

  #objects(): {
    readonly attributes: AdmissionAttributes;
    readonly object: ReviewedObject | undefined;
    readonly oldObject: ReviewedObject | undefined;
  } {
    const attributes = { ...this.#attributes, object: this.#object?.object };
    return { attributes, object: this.#object, oldObject: this.#oldObject };
  }

  async #mutate(
    mutate: Mutate,
    { policy, binding, endpoint }: Invocation,
    input: Pick<
      Parameters<Mutate>[0],
      'shared' | 'endpoint' | 'params' | 'namespaceObject' | 'access' | 'variables'
    >,
  ): Promise<void> {
    const reviewed = this.#object;
    if (reviewed === undefined) return;
    const startedAt = performance.now();
    let error: CheckError = 'no_error';
    try {
      const shown = await converting(() => reviewed.shown(endpoint), this.#signal);
      const changed = await mutate({ ...input, ...this.#objects() }, shown, this.#signal);
      this.#object = this.#run.reviewed(
        await converting(() => reviewed.changedTo(changed, endpoint), this.#signal),
      );
      this.#hasPatched = true;
    } catch (thrown) {
      if (!(thrown instanceof MutationError || thrown instanceof OutOfBudgetError)) throw thrown;
      error =
        thrown instanceof OutOfBudgetError
          ? 'out_of_budget'
          : thrown.isCompileError
            ? 'compile_error'
            : 'invalid_error';
      this.#fail(policy, binding, thrown.message, 'Invalid');
    } finally {
      const check = { policy: policy.name, binding: binding.name, error };
      this.#run.parts.metrics.observeCheck(check, performance.now() - startedAt);
    }
  }

  /** Earlier policies have not seen this change. */
  #askAgain(): void {
    const { asked, again } = this.#memory;
    for (const key of asked) again.add(key);
    asked.clear();
  }
}
