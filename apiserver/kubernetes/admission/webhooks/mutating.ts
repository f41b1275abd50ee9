import { internalError } from '../../../../shared/errors/status-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import { AUDIT_ANNOTATION } from '../../../../shared/names';
import type { JsonPatch } from '../../../../shared/patch/json-patch';
import { applyJsonPatch, decodeJsonPatch } from '../../../../shared/patch/json-patch';
import { decodeJson } from '../../../../shared/schema/decode';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Note } from '../../../engine/registry/write-notes';
import type { Reading } from '../../cluster/cluster-reader';
import type { AdmissionPlugin, Reinvocation } from '../plugin';
import { firstInvocation } from '../plugin';
import { ask } from './asking';
import { CallFailure } from './call-failure';
import { settledMetadata } from './managed-fields';
import type { WebhookParts } from './parts';
import { PATCH_TYPE } from './review';
import type { ReviewedAs } from './reviewed-object';
import { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import { resourceEndpoint } from './reviewed-request';
import { AccessChecks } from '../expressions/access-checks';
import { EvaluatedWrite } from '../expressions/evaluator';
import { isCalled } from './selection';
import type { Webhook } from './webhook';
import { WebhookSource, isExempt } from './source';

/** State of the first invocation for the second. */
interface Memory {
  /** Webhooks to reinvoke after a later change. */
  readonly asked: Set<string>;
  readonly again: Set<string>;
  output: ApiObject | undefined;
}

const MEMORY: Note<Memory> = {
  begin: () => ({ asked: new Set(), again: new Set(), output: undefined }),
};

/**
 * Calls mutating webhooks one after the other in order of names. After a change, all plugins run once more, and webhooks with
 * reinvocationPolicy IfNeeded.
 */
export function mutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const source = new WebhookSource('mutating', parts);
  return {
    concerns: () => true,
    mutate(attributes, _cluster, signal, reinvocation = firstInvocation()) {
      if (isExempt(attributes)) return attributes.object;
      const invocations = source.invocations(attributes);
      if (invocations?.length === 0) return attributes.object;
      const memory = reinvocation.notes.of(MEMORY);
      return new Round(parts, { reinvocation, memory }, signal).run(
        attributes,
        async () => invocations ?? source.settle(attributes, signal),
      );
    },
  };
}

/** Calls all webhooks once. */
class Round {
  readonly #parts: WebhookParts;
  readonly #reinvocation: Reinvocation;
  readonly #memory: Memory;
  readonly #signal: AbortSignal;
  readonly #cluster: Reading;

  constructor(
    parts: WebhookParts,
    { reinvocation, memory }: { readonly reinvocation: Reinvocation; readonly memory: Memory },
    signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#reinvocation = reinvocation;
    this.#memory = memory;
    this.#signal = signal;
    this.#cluster = parts.newReading();
  }

  async run(
    attributes: AdmissionAttributes,
    invocations: () => Promise<readonly Invocation[]>,
  ): Promise<ApiObject | undefined> {
    const memory = this.#memory;
    const { isSecond } = this.#reinvocation;
    if (isSecond && !deepEqual(memory.output, attributes.object)) this.#askAgain();
    const from: ReviewedAs = {
      endpoint: resourceEndpoint(attributes),
      subresource: attributes.write.subresource,
    };
    const oldObject = attributes.oldObject && new ReviewedObject(attributes.oldObject, from);
    let object = attributes.object && new ReviewedObject(attributes.object, from);
    const shared = {
      oldObject,
      cluster: this.#cluster,
      access: new AccessChecks(this.#parts.authorize, attributes),
      shared: new EvaluatedWrite(attributes),
    };
    for (const invocation of await invocations()) {
      const { hook } = invocation;
      if (isSecond && !memory.again.has(hook.uid)) continue;
      const seen = { ...attributes, object: object?.object };
      const candidate = { ...shared, invocation, attributes: seen, object };
      if (!(await isCalled(this.#parts, candidate, this.#signal))) continue;
      const changed = await this.#ask(invocation, seen, { object, oldObject });
      if (changed !== undefined) {
        object = new ReviewedObject(changed, from);
        this.#askAgain();
        this.#reinvocation.wantsSecond = true;
      }
      if (hook.isReinvoked) memory.asked.add(hook.uid);
    }
    memory.output = object && settledMetadata(attributes, object.object);
    return memory.output;
  }

  /** Earlier webhooks have not seen this change. */
  #askAgain(): void {
    const { asked, again } = this.#memory;
    for (const uid of asked) again.add(uid);
    asked.clear();
  }

  /** Returns the patched object; undefined without a change. */
  async #ask(
    invocation: Invocation,
    attributes: AdmissionAttributes,
    objects: { readonly object: ReviewedObject | undefined; readonly oldObject: ReviewedObject | undefined },
  ): Promise<ApiObject | undefined> {
    const round = Number(this.#reinvocation.isSecond);
    const asking = { invocation, attributes, ...objects, cluster: this.#cluster, round };
    const note = noteOf(invocation, attributes, round);
    let isChanged = false;
    try {
      const changed = await ask(
        this.#parts,
        asking,
        ({ patch, patchType }) => {
          const operations = patch === undefined ? [] : operationsOf(invocation.hook, patch);
          if (operations.length === 0) return undefined;
          const result = patched({ operations, patchType }, invocation, objects.object);
          note.patch(operations);
          return deepEqual(result, objects.object?.object) ? undefined : result;
        },
        this.#signal,
      );
      isChanged = changed !== undefined;
      return changed;
    } finally {
      note.mutation(isChanged);
    }
  }
}

/** Throws CallFailure for a patch that is no JSON patch: the failurePolicy decides, as for other unusable answers. */
function operationsOf(hook: Webhook, patch: Buffer): JsonPatch {
  try {
    return decodeJsonPatch(decodeJson(patch));
  } catch (error) {
    const why = `received undecodable patch in webhook response: ${(error as Error).message}`;
    throw new CallFailure(hook, why, { reason: 'answer', cause: error });
  }
}

/** Throws InternalError if the patch does not apply, whatever the failurePolicy. */
function patched(
  { operations, patchType }: { readonly operations: JsonPatch; readonly patchType: string },
  { hook, endpoint }: Invocation,
  object: ReviewedObject | undefined,
): ApiObject {
  if (object === undefined) {
    const name = JSON.stringify(hook.name);
    throw internalError(
      new Error(
        `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
      ),
    );
  }
  if (patchType !== PATCH_TYPE) {
    throw new CallFailure(hook, `unsupported patch type ${JSON.stringify(patchType)}`, { reason: 'answer' });
  }
  let result: unknown;
  try {
    result = applyJsonPatch(object.shown(endpoint), operations);
  } catch (error) {
    throw internalError(error);
  }
  return object.changedTo(result, endpoint);
}

interface AuditNote {
  mutation(isChanged: boolean): void;
  patch(operations: JsonPatch): void;
}

/** Records the webhook and its effect in the audit event. */
function noteOf(
  { hook, index }: Invocation,
  { write: { annotate } }: AdmissionAttributes,
  round: number,
): AuditNote {
  const where = `round_${String(round)}_index_${String(index)}`;
  const who = { configuration: hook.configuration, webhook: hook.name };
  return {
    mutation: (mutated) => {
      annotate?.(AUDIT_ANNOTATION.webhookMutation + where, JSON.stringify({ ...who, mutated }));
    },
    patch: (patch) => {
      if (annotate === undefined) return;
      const text = JSON.stringify({ ...who, patch, patchType: 'JSONPatch' }, exactly);
      annotate(AUDIT_ANNOTATION.webhookPatch + where, text, 'Request');
    },
  };
}

function exactly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
