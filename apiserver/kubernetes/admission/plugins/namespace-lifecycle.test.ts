import { NAMESPACE } from '../../../../shared/names';
import { namespaceLifecycle } from './namespace-lifecycle';
import { NAMESPACES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf } from '../testing/plugin-bench';

const cluster = clusterOf([
  [NAMESPACES, { metadata: { name: 'ns' } }],
  [NAMESPACES, { metadata: { name: 'leaving', deletionTimestamp: '2024-01-01T00:00:00Z' } }],
]);
const object = { metadata: { name: 'x' } };

test.each([
  ['ns', undefined],
  [
    'leaving',
    '403 configmaps "x" is forbidden: unable to create new content in namespace leaving because it is being terminated',
  ],
  ['gone', '404 namespaces "gone" not found'],
])('a new object in the namespace %s', async (namespace, problem) => {
  const attributes = attributesOf('v1/configmaps', { namespace, object });
  expect(await outcomeOf(namespaceLifecycle, attributes, cluster)).toBe(problem ?? object);
});

test('an object with generateName is refused under its prefix', async () => {
  const attributes = attributesOf('v1/configmaps', {
    namespace: 'leaving',
    name: 'web-x7k2p',
    object: { metadata: { generateName: 'web-' } },
  });
  expect(await outcomeOf(namespaceLifecycle, attributes, cluster)).toContain(
    'configmaps "web-" is forbidden',
  );
});

test.each([NAMESPACE.default, NAMESPACE.system, NAMESPACE.public])('%s stays', async (name) => {
  const attributes = attributesOf('v1/namespaces', {
    operation: 'DELETE',
    name,
    oldObject: { metadata: { name } },
  });
  expect(await outcomeOf(namespaceLifecycle, attributes, cluster)).toBe(
    `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
  );
});

test('updates and cluster-scoped objects are ignored', () => {
  const subject = { group: '', resource: 'configmaps', subresource: '' };
  expect(namespaceLifecycle.concerns({ ...subject, operation: 'UPDATE', namespaced: true })).toBe(false);
  expect(namespaceLifecycle.concerns({ ...subject, operation: 'CREATE', namespaced: false })).toBe(false);
});
