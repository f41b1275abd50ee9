import type { Steps } from '../../../../shared/concurrency/steps';
import { waitFor } from '../../../../shared/concurrency/steps';
import { StatusError } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import type { Authorizer } from '../../../engine/request/access';
import { TooLargeHereError } from '../../../engine/request/loop-bounds';
import type { Reading } from '../../cluster/cluster-reader';
import { NAMESPACES } from '../../cluster/resources';
import { AccessChecks } from '../expressions/access-checks';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
import { EvaluatedWrite } from '../expressions/evaluator';
import { ReviewedObject } from '../webhooks/reviewed-object';
import { namespaceOf, resourceEndpoint } from '../webhooks/reviewed-request';
import { matchedEndpoint } from './matching';
import type { ParamReader } from './params';
import { collectParams, paramEndpoint } from './params';
import type { Binding, Policy } from './policy';
import type { PolicyHook, PolicySourceParts } from './source';

/** What policies of both kinds need. */
export interface PolicyParts extends PolicySourceParts, ParamReader {
  readonly authorize: Authorizer;
  readonly metrics: ExpressionMetrics;
}

/** A binding of a policy with a parameter, both of which apply to a write. */
export interface BoundParam {
  readonly binding: Binding;
  /** The version in which expressions see the objects. */
  readonly endpoint: Endpoint;
  readonly params: ApiObject | undefined;
}

/** What becomes of a policy that matches a write. */
export interface PolicyUse {
  /** Receives each binding and parameter that applies, in order. Steps that it returns are done first. */
  readonly use: (bound: BoundParam) => Steps<void> | undefined;
  /** Receives why the policy, or a binding of it, cannot be used; not called if the policy ignores failures. */
  readonly fail: (binding: Binding | undefined, why: string) => void;
}

const NO_PARAMS: readonly undefined[] = [undefined];

/** What the policies of one write share. */
export class PolicyRun {
  readonly access: AccessChecks;
  readonly shared: EvaluatedWrite;
  readonly parts: PolicyParts;
  readonly attributes: AdmissionAttributes;
  readonly signal: AbortSignal;
  readonly #cluster: Reading;
  #namespace: { readonly object: ApiObject | undefined } | undefined;

  constructor(parts: PolicyParts, attributes: AdmissionAttributes, signal: AbortSignal) {
    this.parts = parts;
    this.attributes = attributes;
    this.signal = signal;
    this.#cluster = parts.newReading();
    this.access = new AccessChecks(parts.authorize, attributes);
    this.shared = new EvaluatedWrite(attributes);
  }

  /** Returns an object of the write as policies see it. */
  reviewed(object: ApiObject | undefined): ReviewedObject | undefined {
    const { subresource } = this.attributes.write;
    return object && new ReviewedObject(object, { endpoint: resourceEndpoint(this.attributes), subresource });
  }

  /** Finds out which bindings and parameters of a policy apply to the write. Throws errors that end the request. */
  *apply({ policy, match, bindings }: PolicyHook<Policy>, { use, fail }: PolicyUse): Steps<void> {
    const { parts, attributes, signal } = this;
    const place = { cluster: this.#cluster, signal };
    const failed = (binding: Binding | undefined, error: unknown): void => {
      if (isFatal(error, signal)) throw error;
      const what = binding === undefined ? 'policy' : 'binding';
      if (!policy.failsOpen) fail(binding, `failed to configure ${what}: ${(error as Error).message}`);
    };
    let endpoint: Endpoint | undefined;
    let ofParams: Endpoint | undefined;
    try {
      endpoint = yield* matchedEndpoint(match, attributes, place);
      if (endpoint === undefined) return;
      ofParams = policy.paramKind && paramEndpoint(parts, policy.paramKind);
    } catch (error) {
      failed(undefined, error);
      return;
    }
    for (const { binding, match: ofBinding } of bindings) {
      let found: readonly (ApiObject | undefined)[] = NO_PARAMS;
      try {
        if ((yield* matchedEndpoint(ofBinding, attributes, place)) === undefined) continue;
        if (ofParams !== undefined && binding.paramRef !== undefined) {
          const wanted = { endpoint: ofParams, ref: binding.paramRef, namespace: namespaceOf(attributes) };
          found = yield* waitFor(collectParams(parts, wanted, signal));
        }
      } catch (error) {
        failed(binding, error);
        continue;
      }
      for (const params of found) {
        const steps = use({ binding, endpoint, params });
        if (steps !== undefined) yield* steps;
      }
    }
  }

  /** Returns the namespace of the write for `namespaceObject`; undefined for cluster scope and for namespaces themselves. */
  *namespaceObject(): Steps<ApiObject | undefined> {
    this.#namespace ??= { object: yield* this.#readNamespace() };
    return this.#namespace.object;
  }

  *#readNamespace(): Steps<ApiObject | undefined> {
    const { namespace, endpoint } = this.attributes.write;
    const { group, resource } = endpoint.row;
    if (namespace === '' || (group === NAMESPACES.group && resource === NAMESPACES.resource))
      return undefined;
    const known = this.#cluster.get(NAMESPACES, namespace);
    if (known !== undefined) return known;
    yield* waitFor(this.#cluster.freshen(this.signal));
    return this.#cluster.get(NAMESPACES, namespace);
  }
}

/** Errors that end a request whatever the failure policy is; all others are errors of a policy's configuration. */
function isFatal(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted ||
    error instanceof TooLargeHereError ||
    error instanceof ConversionNeeded ||
    (error instanceof StatusError && RETRIED.has(error.status.code))
  );
}

/** The caches of this server are not ready: the client has to try again. */
const RETRIED: ReadonlySet<number> = new Set([503, 504]);
