import { namespaceAutoProvision, namespaceExists } from './namespace-existence';
import { NAMESPACES } from '../../cluster/resources';
import { attributesOf, clusterOf, outcomeOf } from '../testing/plugin-bench';

const object = { metadata: { name: 'x' } };
const cluster = clusterOf([[NAMESPACES, { metadata: { name: 'ns' } }]]);

test.each(['CREATE', 'UPDATE', 'DELETE'] as const)('NamespaceExists on %s', async (operation) => {
  const attributes = attributesOf('v1/configmaps', { operation, object });
  expect(await outcomeOf(namespaceExists, attributes, cluster)).toBe(object);
  expect(await outcomeOf(namespaceExists, attributes)).toBe('404 namespaces "ns" not found');
});

test.each([
  ['a namespace that is there', {}, cluster, []],
  ['one that is not', {}, clusterOf(), ['ns']],
  ['one that is not, in a dry run', { dryRun: true }, clusterOf(), []],
])('NamespaceAutoProvision and %s', async (_what, more, known, expected) => {
  const made: string[] = [];
  const plugin = namespaceAutoProvision(async (name) => {
    made.push(name);
    return Promise.resolve();
  });
  expect(await outcomeOf(plugin, attributesOf('v1/configmaps', { object, ...more }), known)).toBe(object);
  expect(made).toEqual(expected);
});
