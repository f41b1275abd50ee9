import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { AdmissionPlugin } from '../plugin';
import { ask } from './asking';
import type { WebhookParts } from './parts';
import type { ReviewedAs } from './reviewed-object';
import { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import { resourceEndpoint } from './reviewed-request';
import { AccessChecks } from '../expressions/access-checks';
import { EvaluatedWrite } from '../expressions/evaluator';
import { isCalled } from './selection';
import { WebhookSource, isExempt } from './source';

/** Calls validating webhooks concurrently. The first refusal in order of names counts. */
export function validatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const source = new WebhookSource('validating', parts);
  return {
    concerns: () => true,
    validate(attributes, _cluster, signal) {
      if (isExempt(attributes)) return undefined;
      const invocations = source.invocations(attributes);
      if (invocations?.length === 0) return undefined;
      return askAll(parts, attributes, async () => invocations ?? source.settle(attributes, signal), signal);
    },
  };
}

async function askAll(
  parts: WebhookParts,
  attributes: AdmissionAttributes,
  invocations: () => Promise<readonly Invocation[]>,
  signal: AbortSignal,
): Promise<void> {
  const cluster = parts.newReading();
  const from: ReviewedAs = {
    endpoint: resourceEndpoint(attributes),
    subresource: attributes.write.subresource,
  };
  const object = attributes.object && new ReviewedObject(attributes.object, from);
  const oldObject = attributes.oldObject && new ReviewedObject(attributes.oldObject, from);
  const access = new AccessChecks(parts.authorize, attributes);
  const shared = new EvaluatedWrite(attributes);
  const selected: Invocation[] = [];
  for (const invocation of await invocations()) {
    const candidate = { invocation, attributes, object, oldObject, cluster, access, shared };
    if (await isCalled(parts, candidate, signal)) selected.push(invocation);
  }
  if (selected.length === 0) return;
  // Many webhooks may listen to it.
  const all = linkedAbort(signal);
  const outcomes = await Promise.allSettled(
    selected.map(async (invocation) => {
      const asking = { invocation, attributes, object, oldObject, cluster, round: 0 };
      await ask(parts, asking, () => undefined, all.signal);
    }),
  );
  all.unlink();
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}
