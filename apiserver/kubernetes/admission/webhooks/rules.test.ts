import { attributesOf, endpointOf } from '../testing/plugin-bench';
import { invocationsOf } from './rules';
import { namespaceOf } from './reviewed-request';
import { webhooksOf } from './webhook';

const ALL = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };

function isSeen(
  rule: object,
  {
    at = 'v1/pods',
    operation = 'CREATE',
    subresource = '',
  }: { at?: string; operation?: 'CREATE' | 'DELETE'; subresource?: string } = {},
): boolean {
  const [hook] = webhooksOf('validating', {
    metadata: { name: 'c' },
    webhooks: [
      {
        name: 'a',
        rules: [{ ...ALL, ...rule }],
        matchPolicy: 'Exact',
        clientConfig: { url: 'https://h' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  if (hook === undefined) throw new Error('there is no webhook');
  return invocationsOf([hook], { operation, endpoint: endpointOf(at), subresource }).length > 0;
}

test.each([
  [['*'], '', true],
  [['*'], 'status', false],
  [['pods'], '', true],
  [['pods'], 'status', false],
  [['pods/*'], '', true],
  [['pods/*'], 'status', true],
  [['pods/status'], 'status', true],
  [['pods/status'], '', false],
  [['*/*'], '', true],
  [['*/*'], 'eviction', true],
  [['*/status'], 'status', true],
  [['*/status'], 'eviction', false],
  [['services', 'pods'], '', true],
  [['services'], '', false],
])('resources %j and the subresource "%s" of a pod: %p', (resources, subresource, seen) => {
  expect(isSeen({ resources }, { subresource })).toBe(seen);
});

test('operations, groups and versions must be named or be a wildcard', () => {
  expect(isSeen({ operations: ['DELETE', 'UPDATE'] })).toBe(false);
  expect(isSeen({ operations: ['DELETE'] }, { operation: 'DELETE' })).toBe(true);
  expect(isSeen({ apiGroups: ['apps'] })).toBe(false);
  expect(isSeen({ apiGroups: [''] })).toBe(true);
  expect(isSeen({ apiGroups: ['batch'], apiVersions: ['v1beta1'] }, { at: 'batch/v1/cronjobs' })).toBe(false);
});

test.each([
  ['v1/pods', true, false],
  ['v1/nodes', false, true],
  // Requests for a Namespace carry it as their namespace but are cluster-scoped.
  ['v1/namespaces', false, true],
])('%s belong to a namespace: %p', (at, isNamespaced, isOfCluster) => {
  expect(isSeen({ scope: 'Namespaced' }, { at })).toBe(isNamespaced);
  expect(isSeen({ scope: 'Cluster' }, { at })).toBe(isOfCluster);
  expect(isSeen({ scope: '*' }, { at })).toBe(true);
});

test('the namespace of a Namespace is its own name', () => {
  expect(namespaceOf(attributesOf('v1/namespaces', { name: 'n' }))).toBe('n');
  expect(namespaceOf(attributesOf('v1/pods', { name: 'p' }))).toBe('ns');
});
