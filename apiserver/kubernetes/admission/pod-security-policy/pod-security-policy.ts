import type { Pod } from '../../../../shared/api/types/core-v1';
import type { PodSecurityPolicy } from '../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { ERRORS_SHOWN_MAX } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import { ANNOTATION, AUDIT_ANNOTATION } from '../../../../shared/names';
import type { Authorizer } from '../../../engine/request/access';
import { changesOnlyLifetime } from '../../../engine/registry/changes-only-lifetime';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { PODS, POD_SECURITY_POLICIES } from '../../cluster/resources';
import { refusal } from '../refusal';
import type { CompiledPolicy } from './compiled-policy';
import { compilePolicy } from './compiled-policy';
import { withAnnotations } from './pod-context';
import type { MayUse } from './policy-use';
import { useOfPolicies } from './policy-use';

/**
 * A pod must match a policy that its account or its author may use. A new pod gets the policy's defaults, preferably none; an existing
 * one is never changed.
 */
export function podSecurityPolicy(authorize: Authorizer): AdmissionPlugin {
  const compiled = new WeakMap<PodSecurityPolicy, CompiledPolicy | 'incomplete'>();
  const policiesOf = (cluster: ClusterReader): readonly CompiledPolicy[] =>
    cluster.list(POD_SECURITY_POLICIES).flatMap((policy) => {
      const known = compiled.get(policy) ?? compilePolicy(policy) ?? 'incomplete';
      compiled.set(policy, known);
      return known === 'incomplete' ? [] : [known];
    });
  return pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
    async mutate(attributes, cluster, signal) {
      const { object: pod, operation } = attributes;
      if (pod === undefined || operation !== 'CREATE') return pod;
      const policies = required(attributes, byName(policiesOf(cluster)));
      const mayUse = useOfPolicies(attributes, authorize, signal);
      const outcome = await match(pod, policies, { mayUse, mayChange: true });
      if ('problems' in outcome) throw refused(attributes, 'admit', outcome.problems);
      attributes.write.annotate?.(AUDIT_ANNOTATION.securityPolicyOfAdmission, outcome.policy);
      return withAnnotations(outcome.pod, { [ANNOTATION.securityPolicy]: outcome.policy });
    },
    async validate(attributes, cluster, signal) {
      const { object: pod, oldObject, operation } = attributes;
      if (pod === undefined) return;
      if (operation === 'UPDATE' && oldObject !== undefined && changesOnlyLifetime(pod, oldObject)) return;
      const policies = required(attributes, byName(policiesOf(cluster)));
      // Most likely the policy that admitted the pod.
      const hint = pod.metadata.annotations?.[ANNOTATION.securityPolicy];
      const ordered = [
        ...policies.filter(({ name }) => name === hint),
        ...policies.filter(({ name }) => name !== hint),
      ];
      const mayUse = useOfPolicies(attributes, authorize, signal);
      const outcome = await match(pod, ordered, { mayUse, mayChange: false });
      if ('problems' in outcome) throw refused(attributes, 'validate', outcome.problems);
      attributes.write.annotate?.(AUDIT_ANNOTATION.securityPolicyOfValidation, outcome.policy);
    },
  });
}

function byName(policies: readonly CompiledPolicy[]): readonly CompiledPolicy[] {
  return policies.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function required(attributes: WriteOf<Pod>, policies: readonly CompiledPolicy[]): readonly CompiledPolicy[] {
  if (policies.length > 0) return policies;
  throw refusal(attributes, 'PodSecurityPolicy: no providers available to validate pod request');
}

function refused(attributes: WriteOf<Pod>, phase: string, problems: readonly FieldError[]): Error {
  const texts = problems.slice(0, ERRORS_SHOWN_MAX).map(({ field, message }) => `${field}: ${message}`);
  return refusal(attributes, `PodSecurityPolicy: unable to ${phase} pod: [${texts.join(' ')}]`);
}

type Outcome =
  | { readonly pod: Pod; readonly policy: string }
  /** The violations of usable policies; empty if no policy is usable. */
  | { readonly problems: readonly FieldError[] };

interface Match {
  readonly mayUse: MayUse;
  /** Whether the policy may apply defaults. */
  readonly mayChange: boolean;
}

/** Returns the first policy that changes nothing, else the first match. */
async function match(
  pod: Pod,
  policies: readonly CompiledPolicy[],
  { mayUse, mayChange }: Match,
): Promise<Outcome> {
  let changing: Outcome | undefined;
  const failed: { readonly policy: string; readonly problems: readonly FieldError[] }[] = [];
  for (const policy of policies) {
    const filled = policy.fill(pod);
    const problems = policy.problems(filled);
    const isChanged = filled !== pod && !deepEqual(filled, pod);
    if (problems.length > 0) failed.push({ policy: policy.name, problems });
    else if ((mayChange || !isChanged) && (changing === undefined || !isChanged)) {
      if (!(await mayUse(policy.name))) continue;
      if (!isChanged) return { pod, policy: policy.name };
      changing = { pod: filled, policy: policy.name };
    }
  }
  if (changing !== undefined) return changing;
  const problems: FieldError[] = [];
  for (const each of failed) {
    if (await mayUse(each.policy)) problems.push(...each.problems);
  }
  return { problems };
}
