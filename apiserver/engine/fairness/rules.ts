import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../../shared/api/types/flowcontrol-v1';
import { SERVICE_ACCOUNT } from '../../../shared/names';
import type { UserInfo } from '../request/exchange';
import type { RequestInfo } from '../request/request-info';

type UserTest = (user: UserInfo) => boolean;
type InfoTest = (info: RequestInfo) => boolean;

/** A rule of a FlowSchema with sets instead of lists, so that the cost does not depend on their lengths. */
export interface CompiledRules {
  readonly isAbout: UserTest;
  readonly matches: InfoTest;
  /** The maximum number of sequential comparisons for one request. */
  readonly cost: number;
}

export function compileRules({
  subjects,
  resourceRules = [],
  nonResourceRules = [],
}: PolicyRulesWithSubjects): CompiledRules {
  const isAbout = compileSubjects(subjects ?? []);
  const resources = resourceRules.map(compileResourceRule);
  const urls = nonResourceRules.map(compileUrlRule);
  return {
    isAbout,
    matches: (info) => (info.isResourceRequest ? resources : urls).some((rule) => rule(info)),
    cost: 1 + resourceRules.length + nonResourceRules.reduce((sum, rule) => sum + costOfUrls(rule), 0),
  };
}

const EVERY = '*';

function compileSubjects(subjects: readonly Subject[]): UserTest {
  const users = setOf(subjects.flatMap(({ kind, user }) => (kind === 'User' && user ? [user.name] : [])));
  const groups = setOf(
    subjects.flatMap(({ kind, group }) => (kind === 'Group' && group ? [group.name] : [])),
  );
  const accounts = setOf(subjects.flatMap(accountsOf));
  return ({ name, groups: own }) => {
    if (users.has(EVERY) || groups.has(EVERY) || users.has(name)) return true;
    if (own.some((group) => groups.has(group))) return true;
    if (accounts.size === 0 || !name.startsWith(SERVICE_ACCOUNT.userPrefix)) return false;
    return (
      accounts.has(name) ||
      accounts.has(name.slice(0, name.indexOf(':', SERVICE_ACCOUNT.userPrefix.length) + 1))
    );
  };
}

/** Returns the user name of a service account, or the name prefix of all accounts of its namespace. */
function accountsOf({ kind, serviceAccount: account }: Subject): readonly string[] {
  if (kind !== 'ServiceAccount' || account === undefined) return [];
  const prefix = `${SERVICE_ACCOUNT.userPrefix}${account.namespace}:`;
  return [account.name === EVERY ? prefix : `${prefix}${account.name}`];
}

function compileResourceRule(rule: ResourcePolicyRule): InfoTest {
  const verbs = allOf(rule.verbs);
  const groups = allOf(rule.apiGroups);
  const resources = allOf(rule.resources);
  const namespaces = allOf(rule.namespaces);
  const { clusterScope = false } = rule;
  return ({ verb, resource, subresource, apiGroup, namespace }) => {
    if (verbs !== undefined && !verbs.has(verb)) return false;
    if (groups !== undefined && !groups.has(apiGroup)) return false;
    if (
      resources !== undefined &&
      !resources.has(subresource === '' ? resource : `${resource}/${subresource}`)
    ) {
      return false;
    }
    if (namespace === '') return clusterScope;
    return namespaces === undefined || namespaces.has(namespace);
  };
}

function compileUrlRule(rule: NonResourcePolicyRule): InfoTest {
  const verbs = allOf(rule.verbs);
  const urls = allOf(rule.nonResourceURLs);
  // A path also matches the paths below it.
  const folders = [...(urls ?? [])].map((url) => `${url.replace(/\/?\*?$/u, '')}/`);
  return ({ verb, path }) => {
    if (verbs !== undefined && !verbs.has(verb)) return false;
    return urls === undefined || urls.has(path) || folders.some((folder) => path.startsWith(folder));
  };
}

function costOfUrls({ nonResourceURLs: urls }: NonResourcePolicyRule): number {
  return 1 + (urls?.length ?? 0);
}

/** Returns undefined for `*`. */
function allOf(values: readonly string[] | null): ReadonlySet<string> | undefined {
  return values?.length === 1 && values[0] === EVERY ? undefined : setOf(values ?? []);
}

function setOf(values: readonly string[]): ReadonlySet<string> {
  return new Set(values);
}
