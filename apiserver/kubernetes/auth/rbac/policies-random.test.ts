import { GROUP } from '../../../../shared/names';
import type { AccessQuestion, AccessRules, Authorizer } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

/*
 * Random roles and bindings that change all the time, and random questions: what the index decides is what a reader of the documentation
 * of RBAC would, who goes through all objects for each question.
 */

const RBAC = `/apis/${GROUP.rbac}/v1`;
const NAMESPACES = ['default', 'far'];
const USERS = ['ann', 'ben', 'system:serviceaccount:default:robot', 'system:serviceaccount:far:robot'];
const GROUPS = ['dev', 'ops', 'system:serviceaccounts'];
const NAMES = ['a', 'b', 'c'];
const BINDING_NAMES = [...NAMES, 'd', 'e', 'f'];
const VERBS = ['get', 'list', 'deletecollection', 'impersonate', '*'];
const API_GROUPS = ['', 'apps', '*'];
const RESOURCES = ['pods', 'pods/log', '*/log', 'pods/*', '*', 'logs', 'deployments', '*/*'];
const URLS = ['/a', '/a/', '/a/*', '/a*', '*', '/a/b', '/*', '/a/**', '/a/*/b'];
const PATHS = ['/a', '/a/', '/a/b', '/ab', '/', '/A', '/a/*', '//a', '/a/x/b'];
const ROUNDS = 200;
const QUESTIONS_OF_ROUND = 50;

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface Role {
  readonly rules: readonly Rule[];
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** What is stored, by `<resource> <namespace>/<name>`. */
const roles = new Map<string, Role>();
const bindings = new Map<string, Binding>();

let state = 0x5eed;
/** Below the bound; the same in every run. */
function below(bound: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}

function oneOf<T>(values: readonly T[]): T {
  const value = values[below(values.length)];
  if (value === undefined) throw new Error('nothing to choose from');
  return value;
}

function someOf<T>(values: readonly T[], max = 3): readonly T[] {
  return Array.from({ length: 1 + below(max) }, () => oneOf(values));
}

function newRule(isOfCluster: boolean): Rule {
  if (isOfCluster && below(3) === 0) return { verbs: someOf(VERBS), nonResourceURLs: someOf(URLS) };
  return {
    verbs: someOf(VERBS),
    apiGroups: someOf(API_GROUPS),
    resources: someOf(RESOURCES),
    ...(below(3) === 0 ? { resourceNames: someOf(NAMES) } : {}),
  };
}

function newRole(isOfCluster: boolean): Role {
  return { rules: Array.from({ length: below(5) }, () => newRule(isOfCluster)) };
}

function newSubject(isOfCluster: boolean): Binding['subjects'][number] {
  const kind = oneOf(['User', 'Group', 'ServiceAccount']);
  if (kind === 'User') return { kind, name: oneOf(USERS) };
  if (kind === 'Group') return { kind, name: oneOf(GROUPS) };
  return { kind, name: 'robot', ...(isOfCluster || below(2) === 0 ? { namespace: oneOf(NAMESPACES) } : {}) };
}

function newBinding(isOfCluster: boolean): Binding {
  const kind = isOfCluster ? 'ClusterRole' : oneOf(['ClusterRole', 'Role']);
  return {
    roleRef: { kind, name: oneOf(NAMES) },
    subjects: Array.from({ length: below(4) }, () => newSubject(isOfCluster)),
  };
}

/** Whether the rule allows it, as the documentation says. */
function ruleAllows(rule: Rule, question: AccessQuestion): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (!verbs.some((verb) => verb === '*' || verb === question.verb)) return false;
  if (!question.isResourceRequest) {
    return nonResourceURLs.some((url) =>
      url.endsWith('*') ? question.path.startsWith(url.replace(/\*+$/u, '')) : url === question.path,
    );
  }
  const { resource, subresource, name, apiGroup } = question;
  const whole = subresource === '' ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  return (
    apiGroups.some((group) => group === '*' || group === apiGroup) &&
    resources.some((each) => each === '*' || whole.includes(each)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function isMeant(subject: Binding['subjects'][number], namespace: string, user: UserInfo): boolean {
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  if (subject.kind === 'User') return user.name === subject.name;
  return user.name === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`;
}

/** The rules of a user in a namespace, and those of the cluster. */
function rulesOf(user: UserInfo, namespace: string): readonly Rule[] {
  return [...bindings].flatMap(([key, { roleRef, subjects }]) => {
    const [resource = '', place = ''] = key.split(' ');
    const of = place.slice(0, place.indexOf('/'));
    if (resource === 'rolebindings' && (namespace === '' || of !== namespace)) return [];
    if (!subjects.some((subject) => isMeant(subject, of, user))) return [];
    const role = roleRef.kind === 'Role' ? `roles ${of}/${roleRef.name}` : `clusterroles /${roleRef.name}`;
    return roles.get(role)?.rules ?? [];
  });
}

function newUser(): UserInfo {
  return { name: oneOf(USERS), uid: '', groups: below(2) === 0 ? [] : someOf(GROUPS), extra: {} };
}

function newQuestion(): AccessQuestion {
  const isResourceRequest = below(4) > 0;
  return {
    user: newUser(),
    verb: oneOf(VERBS),
    isResourceRequest,
    path: isResourceRequest ? '' : oneOf(PATHS),
    apiGroup: isResourceRequest ? oneOf(API_GROUPS) : '',
    apiVersion: 'v1',
    namespace: isResourceRequest ? oneOf(['', ...NAMESPACES]) : '',
    resource: isResourceRequest ? oneOf(['pods', 'deployments', 'logs', '*']) : '',
    subresource: isResourceRequest ? oneOf(['', 'log', 'status', '*']) : '',
    name: isResourceRequest ? oneOf(['', ...NAMES]) : '',
  };
}

let api: InProcessApi;
let authorize: Authorizer;
const signal = new AbortController().signal;

beforeAll(async () => {
  api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'] });
  ({ authorize } = api.plane.access);
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'far' } });
});
afterAll(async () => {
  await api.close();
});

async function write(method: string, path: string, body?: object): Promise<Reply> {
  const reply = await api.call(method, path, body === undefined ? {} : { body });
  if (reply.code >= 300) throw new Error(reply.text);
  return reply;
}

/** Makes, replaces or removes a role or a binding, here and there. */
async function change(): Promise<void> {
  const isOfCluster = below(2) === 0;
  const isRole = below(2) === 0;
  const namespace = isOfCluster ? '' : oneOf(NAMESPACES);
  const name = oneOf(isRole ? NAMES : BINDING_NAMES);
  const resource = `${isOfCluster ? 'cluster' : ''}role${isRole ? 's' : 'bindings'}`;
  const key = `${resource} ${namespace}/${name}`;
  const collection = `${RBAC}${isOfCluster ? '' : `/namespaces/${namespace}`}/${resource}`;
  const known: Map<string, unknown> = isRole ? roles : bindings;
  // The role of a binding stays, so that another one needs another binding.
  const isThere = known.delete(key);
  const isReplaced = isRole && below(2) === 0;
  if (isThere && !isReplaced) await write('DELETE', `${collection}/${name}`);
  if (isThere && !isReplaced && below(3) === 0) return;
  const method = isThere && isReplaced ? 'PUT' : 'POST';
  const path = method === 'PUT' ? `${collection}/${name}` : collection;
  if (isRole) {
    const role = newRole(isOfCluster);
    roles.set(key, role);
    await write(method, path, { metadata: { name }, ...role });
    return;
  }
  const { roleRef, subjects } = newBinding(isOfCluster);
  bindings.set(key, { roleRef, subjects });
  await write(method, path, {
    metadata: { name },
    roleRef: { apiGroup: GROUP.rbac, ...roleRef },
    subjects: subjects.map((each) =>
      each.kind === 'ServiceAccount' ? each : { apiGroup: GROUP.rbac, ...each },
    ),
  });
}

/** The rules that are listed as questions see them. */
function listedRules({ resourceRules, nonResourceRules }: AccessRules): readonly Rule[] {
  return [...resourceRules, ...nonResourceRules];
}

test('every decision and every list of rules equals a scan of all objects', async () => {
  const seen = { allowed: 0, refused: 0 };
  // Collected, as comparing by `expect` takes longer than all the rest.
  const wrong: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await change();
    if (round % 25 === 24)
      api.plane.cache.rebuildResource(
        `${GROUP.rbac}/${round % 2 === 0 ? 'clusterroles' : 'rolebindings'}/`,
        'a test',
      );
    for (let asked = 0; asked < QUESTIONS_OF_ROUND; asked += 1) {
      const question = newQuestion();
      const { user, namespace } = question;
      const isAllowed = rulesOf(user, namespace).some((rule) => ruleAllows(rule, question));
      const { decision } = await authorize(question, signal);
      if (decision !== (isAllowed ? 'allow' : 'no-opinion')) wrong.push({ round, question, decision });
      seen[isAllowed ? 'allowed' : 'refused'] += 1;
      if (asked % 10 > 0) continue;
      const listed = listedRules(await api.plane.access.rulesOf(user, namespace, signal));
      if (listed.some((rule) => ruleAllows(rule, question)) !== isAllowed)
        wrong.push({ round, question, listed });
    }
  }
  expect(wrong).toEqual([]);
  // Both must have been put to the test.
  expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(1_000);
});
