import { USER_GROUP } from '../../shared/names';
import type { AccessControl, AccessRules, Authorizer, AccessResult } from '../engine/request/access';
import { firstOpinionOf } from '../engine/authz/authorizer';
import type { Policies } from '../kubernetes/auth/rbac/policies';
import { rbacAuthorizer, rbacRules } from '../kubernetes/auth/rbac/rbac-authorizer';
import { NO_RULES, allRulesOf } from '../engine/authz/rules';

const ALLOWED: AccessResult = { decision: 'allow', reason: '' };
const NO_OPINION: AccessResult = { decision: 'no-opinion', reason: '' };
const EVERYTHING_FORBIDDEN: AccessResult = { decision: 'no-opinion', reason: 'Everything is forbidden.' };

const EVERY = ['*'] as const;
const EVERYTHING: AccessRules = {
  resourceRules: [{ verbs: EVERY, apiGroups: EVERY, resources: EVERY }],
  nonResourceRules: [{ verbs: EVERY, nonResourceURLs: EVERY }],
  incomplete: false,
};

/** Members of the superusers' group may do everything in every mode. */
const superusers: Authorizer = async ({ user }) =>
  Promise.resolve(user.groups.includes(USER_GROUP.masters) ? ALLOWED : NO_OPINION);

/** The valid values of `--authorization-mode`. */
export const MODES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;
export type Mode = (typeof MODES)[number];

/** The modes that need more than roles. */
export type ModeAccess = Partial<Readonly<Record<'ABAC' | 'Webhook' | 'Node', AccessControl>>>;

const ACCESS_OF_MODE: Readonly<Record<Mode, (policies: Policies, others: ModeAccess) => AccessControl>> = {
  AlwaysAllow: () => ({
    authorize: async () => Promise.resolve(ALLOWED),
    rulesOf: async () => Promise.resolve(EVERYTHING),
  }),
  AlwaysDeny: () => ({
    authorize: async () => Promise.resolve(EVERYTHING_FORBIDDEN),
    rulesOf: async () => Promise.resolve(NO_RULES),
  }),
  ABAC: (_policies, others) => given(others, 'ABAC'),
  Webhook: (_policies, others) => given(others, 'Webhook'),
  Node: (_policies, others) => given(others, 'Node'),
  RBAC: (policies) => ({ authorize: rbacAuthorizer(policies), rulesOf: rbacRules(policies) }),
};

function given(others: ModeAccess, mode: keyof ModeAccess): AccessControl {
  const access = others[mode];
  if (access === undefined) throw new Error(`no authorizer is configured for the mode ${mode}`);
  return access;
}

/**
 * Builds the authorizers of `--authorization-mode` in order, after that of the superusers. Superusers appear in no list of rules. Only
 * the named modes of `others` are used.
 */
export function accessControlOf(
  modes: readonly Mode[],
  policies: Policies,
  others: ModeAccess = {},
): AccessControl {
  const members = modes.map((mode) => ACCESS_OF_MODE[mode](policies, others));
  return {
    authorize: firstOpinionOf([superusers, ...members.map(({ authorize }) => authorize)]),
    rulesOf: allRulesOf(members.map(({ rulesOf }) => rulesOf)),
  };
}
