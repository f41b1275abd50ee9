import { RESOURCE } from '../../shared/api/resource-names';
import type {
  ExpressionWarning,
  ValidatingAdmissionPolicy,
} from '../../shared/api/types/admissionregistration-v1';
import { TypeCheck } from '../../shared/cel/admission/type-check';
import { hasCode } from '../../shared/client/status';
import { Slices } from '../../shared/concurrency/slices';
import { createInformer } from '../../shared/informer/informer';
import { MEDIA_TYPE } from '../../shared/names';
import { apiVersionOf } from '../../shared/object/object';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import { KnownResources, PolicyKinds } from './policy-kinds';

const WORKERS = 5;
const FIELD_MANAGER = 'validatingadmissionpolicy-status';

/**
 * Writes the result of type checks into the status of validating admission policies, once for each generation (`pkg/controller/
 * validatingadmissionpolicystatus`). A result never changes what a policy decides.
 */
export async function runPolicyStatus(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { client, log, options, clock } = context;
  const resources = new KnownResources(client, clock);
  const resource = RESOURCE.validatingadmissionpolicies;
  await runObjectLoop<ValidatingAdmissionPolicy>(
    {
      context,
      informer: createInformer({ client, resource, log }),
      workers: options.concurrentValidatingAdmissionPolicyStatusSyncs ?? WORKERS,
      concerns: ({ metadata, status }) =>
        Number(metadata.generation ?? 0) > Number(status?.observedGeneration ?? 0),
      reconcile: async (policy, stop) => {
        const expressionWarnings = await warningsOf(policy, new PolicyKinds(client, resources, stop), stop);
        const { name = '', generation } = policy.metadata;
        const body = {
          apiVersion: apiVersionOf(resource),
          kind: 'ValidatingAdmissionPolicy',
          metadata: { name },
          status: {
            observedGeneration: generation,
            typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
          },
        };
        const patch = { contentType: MEDIA_TYPE.applyPatch, body, force: true };
        const how = { subresource: 'status', fieldManager: FIELD_MANAGER, signal: stop };
        await client.patch(resource, { name }, patch, how).catch((error: unknown) => {
          // A policy that was deleted meanwhile has no status.
          if (!hasCode(error, 404)) throw error;
        });
        return undefined;
      },
    },
    signal,
  );
}

/** Returns the warnings of a policy's validations and their messages, in order, each for all kinds that the policy matches. */
async function warningsOf(
  { spec }: ValidatingAdmissionPolicy,
  kinds: PolicyKinds,
  signal: AbortSignal,
): Promise<readonly ExpressionWarning[]> {
  const params = await kinds.params(spec.paramKind);
  const expressions = (spec.validations ?? []).flatMap(({ expression, messageExpression = '' }, index) => {
    const field = `spec.validations[${String(index)}]`;
    const ofMessage = { fieldRef: `${field}.messageExpression`, source: messageExpression };
    return [
      { fieldRef: `${field}.expression`, source: expression },
      ...(messageExpression === '' ? [] : [ofMessage]),
    ];
  });
  const warnings = new Map<string, string[]>();
  const slices = new Slices();
  const pause = async (): Promise<void> => {
    if (slices.due()) await slices.pause();
    signal.throwIfAborted();
  };
  for (const kind of await kinds.matched(spec)) {
    const check = new TypeCheck(kind, params);
    await pause();
    for (const { name, expression } of spec.variables ?? []) {
      check.declare(name, expression);
      await pause();
    }
    for (const { fieldRef, source } of expressions) {
      const issues = check.issuesOf(source);
      if (issues !== '')
        warnings.set(fieldRef, [...(warnings.get(fieldRef) ?? []), `${kind.text}: ${issues}\n`]);
      await pause();
    }
  }
  return expressions.flatMap(({ fieldRef }) => {
    const texts = warnings.get(fieldRef);
    return texts === undefined ? [] : [{ fieldRef, warning: texts.join('\n') }];
  });
}
