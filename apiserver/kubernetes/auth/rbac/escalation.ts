import type { ClusterRole } from '../../../../shared/api/types/rbac-v1';
import { badRequest, forbidden, notFound, timeout } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import { GROUP, USER_GROUP } from '../../../../shared/names';
import { goQuote } from '../../../../shared/errors/go-quote';
import { pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { joinProblems } from '../../../../shared/errors/field-error';
import type { Authorizer } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import type { WriteCheck } from '../../../engine/registry/admission';
import { changesOnlyLifetime } from '../../../engine/registry/changes-only-lifetime';
import type { RbacKinds, StoredBinding } from './binding';
import { roleRefOf } from './binding';
import { describeMissing, missingRules, quotedList } from './covers';
import type { Policies } from './policies';
import type { PolicyRule } from './policy-rule';
import { policyRules } from './policy-rule';
import { notFoundError } from './role-errors';
import { ownKeyMap } from '../../../../shared/own-key-map';

export interface EscalationParts {
  readonly authorize: Authorizer;
  readonly policies: Policies;
}

const RETRY_AFTER_SECONDS = 1;

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

type Check<T extends ApiObject> = (
  parts: EscalationParts,
  write: RoleWrite<T>,
  signal: AbortSignal,
) => Promise<void>;

/** A write of a role or binding. */
interface RoleWrite<T extends ApiObject = ApiObject> {
  readonly user: UserInfo;
  readonly resource: string;
  readonly namespace: string;
  /** Empty for a new object. */
  readonly nameInPath: string;
  readonly object: T;
  readonly oldObject: T | undefined;
}

/**
 * Refuses privilege escalation: a user can neither write nor bind a role with rights that the user does not hold. This applies in every
 * authorization mode. Source: pkg/registry/rbac/escalation_check.go.
 */
export function refuseEscalation(parts: EscalationParts): WriteCheck {
  return ({ write: { endpoint, user, namespace, nameInPath = '' }, object, oldObject }, signal) => {
    if (endpoint.stored.group !== GROUP.rbac || object === undefined) return undefined;
    const { resource } = endpoint.stored;
    const check = CHECK_OF.get(resource);
    if (check === undefined || user.groups.includes(USER_GROUP.masters)) return undefined;
    if (oldObject !== undefined && changesOnlyLifetime(object, oldObject)) return undefined;
    return check(parts, { user, resource, namespace, nameInPath, object, oldObject }, signal);
  };
}

const CHECKS: { readonly [Resource in keyof RbacKinds]: Check<RbacKinds[Resource]> } = {
  clusterroles: checkRole,
  roles: checkRole,
  clusterrolebindings: checkBinding,
  rolebindings: checkBinding,
};

/** The cast is safe: objects of a resource were decoded as its stored kind. */
const CHECK_OF = ownKeyMap(CHECKS as unknown as Readonly<Record<string, Check<ApiObject>>>);

/** A Role is checked like a ClusterRole without aggregation. */
async function checkRole(
  parts: EscalationParts,
  write: RoleWrite<ClusterRole>,
  signal: AbortSignal,
): Promise<void> {
  const { object, oldObject, resource, nameInPath } = write;
  if (await mayDo(parts, { write, verb: 'escalate', resource, name: nameInPath }, signal)) return;
  await confirmHeld(parts, { write, rules: policyRules(object.rules) }, signal);
  if (!hasAggregation(object) && !hasAggregation(oldObject)) return;
  // The rules that aggregation will add are unknown, so that the user must hold everything.
  const { rules: held } = parts.policies.rulesOf(write.user, write.namespace);
  if (missingRules(held, EVERYTHING).length > 0) {
    throw refusal(write, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding(
  parts: EscalationParts,
  write: RoleWrite<StoredBinding>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, object } = write;
  const ref = roleRefOf(object);
  const resource = ROLE_RESOURCES.get(ref.kind);
  // Validation refuses unknown kinds, and a Role in a ClusterRoleBinding.
  if (resource === undefined || (resource === 'roles' && namespace === '')) return;
  if (await mayDo(parts, { write, verb: 'bind', resource, name: ref.name }, signal)) return;
  refuseNoName(ref.name);
  await freshen(parts.policies, signal);
  const rules = parts.policies.rulesOfRole(ref, namespace);
  if (rules === undefined) throw notFound({ group: GROUP.rbac, resource }, ref.name);
  await confirmHeld(parts, { write, rules }, signal);
}

/** Throws BadRequest for a role name that cannot be looked up; this check runs before validation. */
function refuseNoName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = pathSegmentProblems(name);
  if (problems.length === 0) return;
  throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}

const ROLE_RESOURCES = ownKeyMap({ ClusterRole: 'clusterroles', Role: 'roles' });

/** Returns whether the user may write (`escalate`) or bind (`bind`) roles with any rules. */
async function mayDo(
  { authorize }: EscalationParts,
  {
    write,
    verb,
    resource,
    name,
  }: { readonly write: RoleWrite; readonly verb: string; readonly resource: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const question = {
    user: write.user,
    verb,
    isResourceRequest: true,
    path: '',
    apiGroup: GROUP.rbac,
    apiVersion: '*',
    namespace: write.namespace,
    resource,
    subresource: '',
    name,
  };
  return (await authorize(question, signal)).decision === 'allow';
}

/** The bound on comparisons, which take 0.2 s; a role with a thousand rules, each held by two others, needs half of them. */
export const COMPARISONS_MAX = 10_000_000;

/** Throws Forbidden if the user lacks one of the rules. The rights are read after the cache was freshened. */
async function confirmHeld(
  { policies }: EscalationParts,
  { write, rules }: { readonly write: RoleWrite; readonly rules: readonly PolicyRule[] },
  signal: AbortSignal,
): Promise<void> {
  await freshen(policies, signal);
  const { user, namespace } = write;
  const held = policies.rulesOf(user, namespace);
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
  const comparisons = { left: COMPARISONS_MAX };
  const lacking = missingRules(held.rules, rules, comparisons);
  if (comparisons.left <= 0) {
    throw refusal(
      write,
      `${who} is attempting to grant more RBAC permissions than can be compared with those that are held`,
    );
  }
  if (lacking.length === 0) return;
  const what = describeMissing(lacking).join('\n');
  const problems = held.missing.map((role) => notFoundError(role, 'plural'));
  const trouble = problems.length === 0 ? '' : `; resolution errors: [${joinProblems(problems)}]`;
  throw refusal(
    write,
    `${who} is attempting to grant RBAC permissions not currently held:\n${what}${trouble}`,
  );
}

async function freshen(policies: Policies, signal: AbortSignal): Promise<void> {
  if (await policies.freshen(signal)) return;
  throw timeout('the escalation check timed out waiting for the newest roles', RETRY_AFTER_SECONDS);
}

function refusal({ resource, object }: RoleWrite, why: string): Error {
  return forbidden({ group: GROUP.rbac, resource }, object.metadata.name ?? '', why);
}

function hasAggregation(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
