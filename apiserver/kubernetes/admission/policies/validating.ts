import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../../shared/api/types/admissionregistration-v1';
import { StatusError } from '../../../../shared/errors/status-error';
import type { StatusReason } from '../../../../shared/errors/status-error';
import { AUDIT_ANNOTATION, GROUP } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import type { Authorizer } from '../../../engine/request/access';
import { TooLargeHereError } from '../../../engine/request/loop-bounds';
import type { Reading } from '../../cluster/cluster-reader';
import { NAMESPACES } from '../../cluster/resources';
import { AccessChecks } from '../expressions/access-checks';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';
import { ReviewedObject } from '../webhooks/reviewed-object';
import { namespaceOf, resourceEndpoint } from '../webhooks/reviewed-request';
import { compileMatch, matchedEndpoint } from './matching';
import type { ParamReader } from './params';
import { collectParams, paramEndpoint } from './params';
import type { Binding } from './policy';
import { isExempt } from './policy';
import type { PolicyHook, PolicySourceParts } from './source';
import { PolicySource } from './source';
import type { PolicyDecision, PolicyResult } from './validating-policy';
import { ValidatingPolicy, checkErrorOf } from './validating-policy';

/** What policies of both kinds need. */
export interface PolicyParts extends PolicySourceParts, ParamReader {
  readonly authorize: Authorizer;
  readonly metrics: ExpressionMetrics;
}

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
      bindingOf: (object) => bindingOf(object as ValidatingAdmissionPolicyBinding),
    },
    parts,
  );
  return {
    concerns: () => true,
    validate(attributes, _cluster, signal) {
      if (isExempt(attributes)) return undefined;
      const hooks = source.hooks(attributes);
      if (hooks?.length === 0) return undefined;
      return validateAll(parts, attributes, async () => hooks ?? source.settle(attributes, signal), signal);
    },
  };
}

function bindingOf({ metadata, spec }: ValidatingAdmissionPolicyBinding): Binding {
  return {
    name: metadata.name ?? '',
    policyName: spec.policyName ?? '',
    match: compileMatch(spec.matchResources),
    paramRef: spec.paramRef,
    actions: spec.validationActions ?? [],
  };
}

async function validateAll(
  parts: PolicyParts,
  attributes: AdmissionAttributes,
  hooks: () => Promise<readonly PolicyHook<ValidatingPolicy>[]>,
  signal: AbortSignal,
): Promise<void> {
  const run = new ValidationRun(parts, attributes, signal);
  for (const hook of await hooks()) await run.apply(hook);
  run.finish();
}

/** A refusal, with the policy and the binding that caused it. */
interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

/** The objects of a write, as policies see them. */
function reviewedObjects(attributes: AdmissionAttributes): {
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
} {
  const from = { endpoint: resourceEndpoint(attributes), subresource: attributes.write.subresource };
  const { object, oldObject } = attributes;
  return {
    object: object && new ReviewedObject(object, from),
    oldObject: oldObject && new ReviewedObject(oldObject, from),
  };
}

/** Returns the namespace of a write for `namespaceObject`; undefined for cluster scope and for namespaces themselves. */
export async function namespaceObjectOf(
  { write: { namespace, endpoint } }: AdmissionAttributes,
  cluster: Reading,
  signal: AbortSignal,
): Promise<ApiObject | undefined> {
  const { group, resource } = endpoint.row;
  if (namespace === '' || (group === NAMESPACES.group && resource === NAMESPACES.resource)) return undefined;
  const known = cluster.get(NAMESPACES, namespace);
  if (known !== undefined) return known;
  await cluster.freshen(signal);
  return cluster.get(NAMESPACES, namespace);
}

/** Errors that end a request whatever the failure policy is; all others are errors of a policy's configuration. */
export function isFatal(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof TooLargeHereError || error instanceof ConversionNeeded;
}

/** The policies of one write. */
class ValidationRun {
  readonly #parts: PolicyParts;
  readonly #attributes: AdmissionAttributes;
  readonly #signal: AbortSignal;
  readonly #cluster: Reading;
  readonly #objects: ReturnType<typeof reviewedObjects>;
  readonly #access: AccessChecks;
  readonly #denials: Denial[] = [];
  #namespace: Promise<ApiObject | undefined> | undefined;

  constructor(parts: PolicyParts, attributes: AdmissionAttributes, signal: AbortSignal) {
    this.#parts = parts;
    this.#attributes = attributes;
    this.#signal = signal;
    this.#cluster = parts.newReading();
    this.#objects = reviewedObjects(attributes);
    this.#access = new AccessChecks(parts.authorize, attributes);
  }

  async apply(hook: PolicyHook<ValidatingPolicy>): Promise<void> {
    const { policy, match, bindings } = hook;
    const place = { cluster: this.#cluster, signal: this.#signal };
    const matched = await this.#configured(policy, undefined, async () => {
      const endpoint = await matchedEndpoint(match, this.#attributes, place);
      if (endpoint === undefined) return undefined;
      return { endpoint, params: policy.paramKind && paramEndpoint(this.#parts, policy.paramKind) };
    });
    if (matched === undefined) return;
    const annotations = new Map<string, Set<string>>();
    for (const { binding, match: ofBinding } of bindings) {
      const params = await this.#configured(policy, binding, async () => {
        if ((await matchedEndpoint(ofBinding, this.#attributes, place)) === undefined) return [];
        const namespace = namespaceOf(this.#attributes);
        const ref = binding.paramRef;
        return collectParams(this.#parts, { endpoint: matched.params, ref, namespace }, this.#signal);
      });
      for (const param of params ?? []) {
        const result = await policy.validate(
          {
            attributes: this.#attributes,
            endpoint: matched.endpoint,
            ...this.#objects,
            params: param,
            namespaceObject: await this.#namespaceObject(),
            access: this.#access,
          },
          this.#parts.metrics,
          this.#signal,
        );
        this.#use(result, policy, binding, annotations);
      }
    }
    for (const [key, values] of annotations) {
      this.#attributes.write.annotate?.(`${policy.name}/${key}`, Array.from(values).join(', '));
    }
  }

  /** Throws the first refusal. */
  finish(): void {
    const [first] = this.#denials;
    if (first === undefined) return;
    const { policy, binding, message: why } = first;
    const of = binding === undefined ? '' : ` with binding '${binding}'`;
    const message = `ValidatingAdmissionPolicy '${policy}'${of} denied request: ${why}`;
    const reason = (first.reason === '' ? 'Invalid' : first.reason) as StatusReason;
    const { status } = refusal(this.#attributes, message);
    throw new StatusError(reason, status.message ?? message, {
      details: { ...status.details, causes: [...(status.details?.causes ?? []), { message }] },
    });
  }

  #namespaceObject(): Promise<ApiObject | undefined> {
    return (this.#namespace ??= namespaceObjectOf(this.#attributes, this.#cluster, this.#signal));
  }

  /** Runs a step whose errors are those of the policy's configuration, which follow its failure policy. */
  async #configured<T>(
    { name, failsOpen }: ValidatingPolicy,
    binding: Binding | undefined,
    step: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (isFatal(error, this.#signal)) throw error;
      if (failsOpen) return undefined;
      const what = binding === undefined ? 'policy' : 'binding';
      const message = `failed to configure ${what}: ${(error as Error).message}`;
      this.#denials.push({ policy: name, binding: binding?.name, message, reason: '' });
      return undefined;
    }
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
    const { write } = this.#attributes;
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
    this.#parts.metrics.observeCheck(check, decision.ms);
  }
}
