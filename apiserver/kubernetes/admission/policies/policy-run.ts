import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Endpoint } from '../../../engine/registry/resource';
import type { Authorizer } from '../../../engine/request/access';
import { TooLargeHereError } from '../../../engine/request/loop-bounds';
import type { ApiObject } from '../../../../shared/object/object';
import type { Reading } from '../../cluster/cluster-reader';
import { NAMESPACES } from '../../cluster/resources';
import { AccessChecks } from '../expressions/access-checks';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
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

/** What the policies of one write share. */
export class PolicyRun {
  readonly access: AccessChecks;
  readonly parts: PolicyParts;
  readonly attributes: AdmissionAttributes;
  readonly signal: AbortSignal;
  readonly #cluster: Reading;
  #namespace: Promise<ApiObject | undefined> | undefined;

  constructor(parts: PolicyParts, attributes: AdmissionAttributes, signal: AbortSignal) {
    this.parts = parts;
    this.attributes = attributes;
    this.signal = signal;
    this.#cluster = parts.newReading();
    this.access = new AccessChecks(parts.authorize, attributes);
  }

  /** Returns an object of the write as policies see it. */
  reviewed(object: ApiObject | undefined): ReviewedObject | undefined {
    const { subresource } = this.attributes.write;
    return object && new ReviewedObject(object, { endpoint: resourceEndpoint(this.attributes), subresource });
  }

  /**
   * Yields the bindings and parameters of a policy that apply to the write, in order.
   *
   * @param fail reports that the policy, or a binding of it, cannot be used; not called if the policy ignores failures
   */
  async *invocations(
    { policy, match, bindings }: PolicyHook<Policy>,
    fail: (binding: Binding | undefined, why: string) => void,
  ): AsyncGenerator<BoundParam> {
    const { parts, attributes, signal } = this;
    const place = { cluster: this.#cluster, signal };
    const configured = async <T>(
      binding: Binding | undefined,
      step: () => Promise<T>,
    ): Promise<T | undefined> => {
      try {
        return await step();
      } catch (error) {
        if (isFatal(error, signal)) throw error;
        const what = binding === undefined ? 'policy' : 'binding';
        if (!policy.failsOpen) fail(binding, `failed to configure ${what}: ${(error as Error).message}`);
        return undefined;
      }
    };
    const matched = await configured(undefined, async () => {
      const endpoint = await matchedEndpoint(match, attributes, place);
      if (endpoint === undefined) return undefined;
      return { endpoint, ofParams: policy.paramKind && paramEndpoint(parts, policy.paramKind) };
    });
    if (matched === undefined) return;
    const { endpoint, ofParams } = matched;
    const namespace = namespaceOf(attributes);
    for (const { binding, match: ofBinding } of bindings) {
      const found = await configured(binding, async () => {
        if ((await matchedEndpoint(ofBinding, attributes, place)) === undefined) return [];
        return collectParams(parts, { endpoint: ofParams, ref: binding.paramRef, namespace }, signal);
      });
      for (const params of found ?? []) yield { binding, endpoint, params };
    }
  }

  /** Returns the namespace of the write for `namespaceObject`; undefined for cluster scope and for namespaces themselves. */
  namespaceObject(): Promise<ApiObject | undefined> {
    return (this.#namespace ??= this.#readNamespace());
  }

  async #readNamespace(): Promise<ApiObject | undefined> {
    const { namespace, endpoint } = this.attributes.write;
    const { group, resource } = endpoint.row;
    if (namespace === '' || (group === NAMESPACES.group && resource === NAMESPACES.resource))
      return undefined;
    const known = this.#cluster.get(NAMESPACES, namespace);
    if (known !== undefined) return known;
    await this.#cluster.freshen(this.signal);
    return this.#cluster.get(NAMESPACES, namespace);
  }
}

/** Errors that end a request whatever the failure policy is; all others are errors of a policy's configuration. */
function isFatal(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof TooLargeHereError || error instanceof ConversionNeeded;
}
