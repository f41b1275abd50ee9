import type { ValidatingAdmissionPolicy } from '../../../../shared/api/types/admissionregistration-v1';
import type { Steps } from '../../../../shared/concurrency/steps';
import { runSteps, waitFor } from '../../../../shared/concurrency/steps';
import { StatusError } from '../../../../shared/errors/status-error';
import type { StatusReason } from '../../../../shared/errors/status-error';
import { AUDIT_ANNOTATION, GROUP } from '../../../../shared/names';
import type { ExpressionInput } from '../expressions/evaluator';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';
import type { Binding } from './policy';
import { isExempt } from './policy';
import type { BoundParam, PolicyParts } from './policy-run';
import { PolicyRun } from './policy-run';
import type { PolicyHook } from './source';
import { PolicySource } from './source';
import type { PolicyDecision, PolicyResult } from './validating-policy';
import { ValidatingPolicy, checkErrorOf } from './validating-policy';

/** Bytes of an audit annotation. */
const ANNOTATION_BYTES_MAX = 10 * 1024;

/**
 * Evaluates ValidatingAdmissionPolicies (k8s.io/apiserver `admission/plugin/policy/validating`). The first refusal in the order of policies
 * and bindings counts.
 */
export function validatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const source = new PolicySource<ValidatingPolicy>(
    {
      policies: { group: GROUP.admissionregistration, resource: 'validatingadmissionpolicies' },
      bindings: { group: GROUP.admissionregistration, resource: 'validatingadmissionpolicybindings' },
      policyOf: (object) => new ValidatingPolicy(object as ValidatingAdmissionPolicy),
    },
    parts,
  );
  return {
    concerns: () => true,
    validate(attributes, _cluster, signal) {
      if (isExempt(attributes)) return undefined;
      const hooks = source.hooks(attributes);
      if (hooks?.length === 0) return undefined;
      const run = new ValidationRun(new PolicyRun(parts, attributes, signal));
      return runSteps(run.validate(hooks ?? source.settle(attributes, signal)));
    },
  };
}

/** A refusal, with the policy and the binding that caused it. */
interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

/** The policies of one write. */
class ValidationRun {
  readonly #run: PolicyRun;
  readonly #objects: Pick<ExpressionInput, 'object' | 'oldObject'>;
  readonly #denials: Denial[] = [];

  constructor(run: PolicyRun) {
    const { object, oldObject } = run.attributes;
    this.#run = run;
    this.#objects = { object: run.reviewed(object), oldObject: run.reviewed(oldObject) };
  }

  /** Throws the first refusal. */
  *validate(
    found: readonly PolicyHook<ValidatingPolicy>[] | Promise<readonly PolicyHook<ValidatingPolicy>[]>,
  ): Steps<void> {
    const hooks = found instanceof Promise ? yield* waitFor(found) : found;
    for (const hook of hooks) yield* this.#apply(hook);
    this.#refuse();
  }

  *#apply(hook: PolicyHook<ValidatingPolicy>): Steps<void> {
    const { policy } = hook;
    const annotations = new Map<string, Set<string>>();
    const fail = (binding: Binding | undefined, message: string): void => {
      this.#denials.push({ policy: policy.name, binding: binding?.name, message, reason: '' });
    };
    const use = (bound: BoundParam): Steps<void> => this.#invoke(policy, bound, annotations);
    yield* this.#run.apply(hook, { use, fail });
    for (const [key, values] of annotations) {
      this.#run.attributes.write.annotate?.(`${policy.name}/${key}`, Array.from(values).join(', '));
    }
  }

  *#invoke(
    policy: ValidatingPolicy,
    { binding, endpoint, params }: BoundParam,
    annotations: Map<string, Set<string>>,
  ): Steps<void> {
    const { attributes, access, shared, parts, signal } = this.#run;
    const namespaceObject = yield* this.#run.namespaceObject();
    const { variables } = policy;
    const { object, oldObject } = this.#objects;
    // Field by field: spreading another object costs more than most evaluations.
    const input = {
      attributes,
      shared,
      endpoint,
      object,
      oldObject,
      params,
      namespaceObject,
      access,
      variables,
    };
    const result = yield* policy.validate(input, parts.metrics, signal);
    this.#use(result, policy, binding, annotations);
  }

  #refuse(): void {
    const [first] = this.#denials;
    if (first === undefined) return;
    const { policy, binding, message: why } = first;
    const of = binding === undefined ? '' : ` with binding '${binding}'`;
    const message = `ValidatingAdmissionPolicy '${policy}'${of} denied request: ${why}`;
    const reason = (first.reason === '' ? 'Invalid' : first.reason) as StatusReason;
    const { status } = refusal(this.#run.attributes, message);
    throw new StatusError(reason, status.message ?? message, {
      details: { ...status.details, causes: [...(status.details?.causes ?? []), { message }] },
    });
  }

  #use(
    { decisions, annotations }: PolicyResult,
    policy: ValidatingPolicy,
    binding: Binding,
    collected: Map<string, Set<string>>,
  ): void {
    for (const [index, decision] of decisions.entries()) {
      if (decision.action === 'deny') this.#deny(index, decision, policy, binding);
      else if (decision.isError) this.#observe(decision, policy, binding, 'allow');
    }
    for (const annotation of annotations) {
      if (annotation.action === 'publish') {
        const { key, value } = annotation;
        const values = collected.get(key) ?? new Set();
        collected.set(key, values.add(Buffer.from(value).subarray(0, ANNOTATION_BYTES_MAX).toString()));
        continue;
      }
      const decision = {
        action: 'deny',
        isError: true,
        message: annotation.error,
        reason: '',
        ms: annotation.ms,
      } as const;
      this.#denials.push({
        policy: policy.name,
        binding: binding.name,
        message: annotation.error,
        reason: '',
      });
      this.#observe(decision, policy, binding, 'deny');
    }
  }

  #deny(index: number, decision: PolicyDecision, policy: ValidatingPolicy, binding: Binding): void {
    const { message, reason } = decision;
    const { write } = this.#run.attributes;
    for (const action of binding.actions) {
      if (action === 'Deny') {
        this.#denials.push({ policy: policy.name, binding: binding.name, message, reason });
        this.#observe(decision, policy, binding, 'deny');
      } else if (action === 'Audit') {
        const failure = {
          message,
          policy: binding.policyName,
          binding: binding.name,
          expressionIndex: index,
          validationActions: binding.actions,
        };
        write.annotate?.(AUDIT_ANNOTATION.policyFailure, JSON.stringify([failure]));
        this.#observe(decision, policy, binding, 'audit');
      } else {
        write.warn?.(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
        );
        this.#observe(decision, policy, binding, 'warn');
      }
    }
  }

  #observe(
    decision: PolicyDecision,
    policy: ValidatingPolicy,
    binding: Binding,
    action: 'allow' | 'deny' | 'audit' | 'warn',
  ): void {
    const check = { policy: policy.name, binding: binding.name, error: checkErrorOf(decision), action };
    this.#run.parts.metrics.observeCheck(check, decision.ms);
  }
}
