import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION, AUDIT_ANNOTATION } from '../../../../shared/names';
import type { AccessQuestion } from '../../../engine/request/access';
import { POD_SECURITY_POLICIES } from '../../cluster/resources';
import type { GivenWrite } from '../testing/plugin-bench';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';
import { podSecurityPolicy } from './pod-security-policy';

const ANY = { rule: 'RunAsAny' };
const OPEN = { runAsUser: ANY, seLinux: ANY, fsGroup: ANY, supplementalGroups: ANY };
const FILLING = { readOnlyRootFilesystem: true };
const INCOMPLETE = { runAsUser: { rule: 'MustRunAs' } };

const policy = (name: string, spec: object = {}) =>
  [POD_SECURITY_POLICIES, { metadata: { name }, spec: { ...OPEN, ...spec } }] as const;
const podOf = (spec: object = {}, annotations?: Record<string, string>): ApiObject => ({
  metadata: { name: 'p', ...(annotations === undefined ? {} : { annotations }) },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const PRIVILEGED = { containers: [{ name: 'c', securityContext: { privileged: true } }] };
const refusalOf = (why: string) => `403 pods "p" is forbidden: PodSecurityPolicy: ${why}`;
const policyOf = (outcome: unknown) =>
  (outcome as ApiObject).metadata.annotations?.[ANNOTATION.securityPolicy];

type MayUse = (question: AccessQuestion) => boolean;

/** By default every user may use every policy. */
const pluginFor = (mayUse: MayUse = () => true) =>
  podSecurityPolicy(async (question) =>
    Promise.resolve({
      decision: mayUse(question) ? ('allow' as const) : ('no-opinion' as const),
      reason: '',
    }),
  );
const creationOf = (object: ApiObject, more: GivenWrite = {}) => attributesOf('v1/pods', { object, ...more });
const updateOf = (object: ApiObject, oldObject: ApiObject) =>
  attributesOf('v1/pods', { operation: 'UPDATE', object, oldObject });

describe('selection for a new pod', () => {
  test.each<readonly [what: string, policies: readonly (readonly [string, object?])[], expected: string]>([
    ['the first one by name', [['b'], ['a']], 'a'],
    ['one that changes nothing before those that do', [['a', FILLING], ['b']], 'b'],
    [
      'the first of those that change it',
      [
        ['b', FILLING],
        ['a', FILLING],
      ],
      'a',
    ],
    [
      'one that allows it',
      [
        ['a', { allowPrivilegeEscalation: false, defaultAllowPrivilegeEscalation: true }],
        ['b', FILLING],
      ],
      'b',
    ],
    ['not one that is incomplete', [['a', INCOMPLETE], ['b']], 'b'],
  ])('%s', async (_what, policies, expected) => {
    const cluster = clusterOf(policies.map(([name, spec]) => policy(name, spec)));
    expect(policyOf(await outcomeOf(pluginFor(), creationOf(podOf()), cluster))).toBe(expected);
  });

  test('includes the defaults of the policy', async () => {
    const outcome = await outcomeOf(pluginFor(), creationOf(podOf()), clusterOf([policy('a', FILLING)]));
    expect(outcome).toMatchObject({
      metadata: { annotations: { [ANNOTATION.securityPolicy]: 'a' } },
      spec: { containers: [{ securityContext: { readOnlyRootFilesystem: true } }] },
    });
  });

  test('is recorded in the audit log', async () => {
    const notes: Record<string, string> = {};
    const annotate = (key: string, value: string) => void (notes[key] ??= value);
    await outcomeOf(pluginFor(), creationOf(podOf(), { annotate }), clusterOf([policy('a')]));
    expect(notes).toEqual({
      [AUDIT_ANNOTATION.securityPolicyOfAdmission]: 'a',
      [AUDIT_ANNOTATION.securityPolicyOfValidation]: 'a',
    });
  });
});

describe('permission to use a policy', () => {
  const pod = podOf({ serviceAccountName: 'sa' });
  const account = 'system:serviceaccount:ns:sa';

  test.each<readonly [what: string, mayUse: MayUse, expected: string]>([
    ['the account that the pod runs as', ({ user }) => user.name === account, 'a'],
    ['the groups of that account', ({ user }) => user.groups.includes('system:serviceaccounts:ns'), 'a'],
    ['who writes the pod', ({ user }) => user.name === 'jane', 'a'],
    ['who might use it in its old group', ({ apiGroup }) => apiGroup === 'extensions', 'a'],
    ['who may do so in this namespace', ({ namespace, verb }) => namespace === 'ns' && verb === 'use', 'a'],
    [
      'no other user',
      ({ user }) => user.name === 'system:serviceaccount:other:sa',
      refusalOf('unable to admit pod: []'),
    ],
    ['and of two, the one that may be used', ({ name }) => name === 'b', 'b'],
  ])('%s', async (_what, mayUse, expected) => {
    const outcome = await outcomeOf(
      pluginFor(mayUse),
      creationOf(pod),
      clusterOf([policy('a'), policy('b')]),
    );
    expect(typeof outcome === 'string' ? outcome : policyOf(outcome)).toBe(expected);
  });

  test('a pod without an account is checked for its author alone', async () => {
    const asked: string[] = [];
    const plugin = pluginFor(({ user, apiGroup }) => {
      asked.push(`${user.name} ${apiGroup}`);
      return false;
    });
    await outcomeOf(plugin, creationOf(podOf()), clusterOf([policy('a')]));
    expect(asked).toEqual(['jane policy', 'jane extensions']);
  });
});

describe('a pod without a matching policy', () => {
  const cluster = clusterOf([policy('a'), policy('b', { allowPrivilegeEscalation: false })]);
  const privileged =
    'spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed';

  test('gets the violations of each usable policy', async () => {
    expect(await outcomeOf(pluginFor(), creationOf(podOf(PRIVILEGED)), cluster)).toBe(
      refusalOf(`unable to admit pod: [${privileged} ${privileged}]`),
    );
    const mayUse: MayUse = ({ name }) => name === 'b';
    expect(await outcomeOf(pluginFor(mayUse), creationOf(podOf(PRIVILEGED)), cluster)).toBe(
      refusalOf(`unable to admit pod: [${privileged}]`),
    );
  });

  test('is refused if no policy is usable', async () => {
    const why = refusalOf('no providers available to validate pod request');
    expect(await outcomeOf(pluginFor(), creationOf(podOf()))).toBe(why);
    expect(await outcomeOf(pluginFor(), creationOf(podOf()), clusterOf([policy('a', INCOMPLETE)]))).toBe(why);
  });
});

describe('an existing pod', () => {
  const labeled = (object: ApiObject): ApiObject => ({
    ...object,
    metadata: { ...object.metadata, labels: { a: 'b' } },
  });

  test('is not changed, but must match', async () => {
    const before = podOf();
    const cluster = clusterOf([policy('a', FILLING)]);
    expect(await outcomeOf(pluginFor(), updateOf(labeled(before), before), cluster)).toBe(
      refusalOf('unable to validate pod: []'),
    );
    const after = labeled(before);
    expect(await outcomeOf(pluginFor(), updateOf(after, before), clusterOf([policy('a')]))).toBe(after);
  });

  test('may lose owners and finalizers whatever policies say', async () => {
    const before = { ...podOf(PRIVILEGED), metadata: { name: 'p', finalizers: ['example.com/f'] } };
    const cluster = clusterOf([policy('a')]);
    expect(resultOf(await outcomeOf(pluginFor(), updateOf(podOf(PRIVILEGED), before), cluster))).toBe(
      'admitted',
    );
    expect(resultOf(await outcomeOf(pluginFor(), updateOf(labeled(before), before), cluster))).toContain(
      'unable to validate pod',
    );
  });

  test('is first checked by the policy that admitted it', async () => {
    const asked: string[] = [];
    const plugin = pluginFor(({ name }) => {
      asked.push(name);
      return true;
    });
    const before = podOf({}, { [ANNOTATION.securityPolicy]: 'z' });
    await outcomeOf(plugin, updateOf(labeled(before), before), clusterOf([policy('a'), policy('z')]));
    expect(asked).toEqual(['z']);
  });

  test('is ignored if only its status changes', () => {
    const subject = { operation: 'UPDATE', group: '', resource: 'pods', namespaced: true } as const;
    expect(pluginFor().concerns({ ...subject, subresource: 'status' })).toBe(false);
    expect(pluginFor().concerns({ ...subject, subresource: '' })).toBe(true);
  });
});
