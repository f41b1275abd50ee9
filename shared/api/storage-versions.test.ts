import { RESOURCES } from './resources';

/**
 * Storage versions other than `v1`. One may change only to a version that the last release serves as well, so
 * that its servers can read stored objects (ADR 65).
 */
const NOT_STABLE: Readonly<Record<string, string>> = {
  csistoragecapacities: 'v1beta1',
  flowschemas: 'v1beta1',
  horizontalpodautoscalers: 'v2beta2',
  podsecuritypolicies: 'v1beta1',
  prioritylevelconfigurations: 'v1beta1',
  storageversions: 'v1alpha1',
};

const stored = RESOURCES.filter(({ verbs }) => verbs.includes('list') && verbs.includes('create'));

test('the last release can read every storage version', () => {
  const versions = new Map(stored.map(({ hub, resource }) => [`${hub.group}/${resource}`, hub.version]));
  const others = [...versions].filter(([, version]) => version !== 'v1');
  expect(Object.fromEntries(others.map(([name, version]) => [name.split('/')[1], version]))).toEqual(
    NOT_STABLE,
  );
});

test('each storage version is served', () => {
  const served = new Set(RESOURCES.map(({ group, version, resource }) => `${group}/${version}/${resource}`));
  const unserved = stored.filter(
    ({ hub, resource }) => !served.has(`${hub.group}/${hub.version}/${resource}`),
  );
  expect(unserved.map(({ resource }) => resource)).toEqual([]);
});
