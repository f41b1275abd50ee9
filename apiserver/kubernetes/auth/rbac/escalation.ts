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

/** What is written, and by whom. */
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
 * Nobody gives anybody, not even themselves, rights that they do not have: not by writing a role, and not by binding one. That holds
 * whatever the modes of authorization are.
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

/** Lets go of the kind: the objects of a resource were decoded as what is stored there. */
const CHECK_OF = ownKeyMap(CHECKS as unknown as Readonly<Record<string, Check<ApiObject>>>);

/** A Role is like a ClusterRole that gathers nothing. */
async function checkRole(
  parts: EscalationParts,
  write: RoleWrite<ClusterRole>,
  signal: AbortSignal,
): Promise<void> {
  const { object, oldObject, resource, nameInPath } = write;
  if (await mayDo(parts, { write, verb: 'escalate', resource, name: nameInPath }, signal)) return;
  await confirmHeld(parts, { write, rules: policyRules(object.rules) }, signal);
  if (!hasAggregation(object) && !hasAggregation(oldObject)) return;
  // What aggregation will gather is not known yet: whoever asks for it must hold everything.
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
  // Validation refuses what is no role, and a role of a namespace that the binding has none of.
  if (resource === undefined || (resource === 'roles' && namespace === '')) return;
  if (await mayDo(parts, { write, verb: 'bind', resource, name: ref.name }, signal)) return;
  refuseNoName(ref.name);
  await freshen(parts.policies, signal);
  const rules = parts.policies.rulesOfRole(ref, namespace);
  if (rules === undefined) throw notFound({ group: GROUP.rbac, resource }, ref.name);
  await confirmHeld(parts, { write, rules }, signal);
}

/** The role is looked for before validation asks what it is called: throws BadRequest for what cannot be looked for. */
function refuseNoName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = pathSegmentProblems(name);
  if (problems.length === 0) return;
  throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}

const ROLE_RESOURCES = ownKeyMap({ ClusterRole: 'clusterroles', Role: 'roles' });

/** Whether the user is trusted with roles of any content: to write them (`escalate`), or to bind them (`bind`). */
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

/** They take 0.2 s. A role of a thousand rules, each of which its writer holds by two others, needs half of them. */
export const COMPARISONS_MAX = 10_000_000;

/** Refuses on rights as they are now, like every reader of the store would see them. */
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
  throw timeout('the check of the rights that are given waits for the newest roles', RETRY_AFTER_SECONDS);
}

function refusal({ resource, object }: RoleWrite, why: string): Error {
  return forbidden({ group: GROUP.rbac, resource }, object.metadata.name ?? '', why);
}

function hasAggregation(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}
