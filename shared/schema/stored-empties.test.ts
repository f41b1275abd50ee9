import { decodeObject } from './decode';
import { withStoredEmpties } from './stored-empties';
import { kindType, messageNames, messageType } from './types';

const read = (name: string, value: object, empty: 'keep' | 'null') =>
  decodeObject(kindType(name), value, { empty }).object;

const POD_TEMPLATE = {
  template: {
    spec: {
      containers: [],
      volumes: [
        { name: 'v', projected: { sources: [] } },
        { name: 'w', rbd: { monitors: [], image: 'i' } },
      ],
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
      },
    },
  },
};

test.each([
  ['core/v1.PodTemplate', POD_TEMPLATE],
  ['rbac/v1.Role', { rules: [] }],
  ['rbac/v1.Role', { rules: [{ verbs: [], resources: [] }, { verbs: ['get'] }] }],
  ['core/v1.Node', { status: { images: [{ names: [], sizeBytes: 1 }] } }],
  ['core/v1.ConfigMap', { data: {} }],
])('the kept empties of a %s become null as in the store', (name, value) => {
  const kept = read(name, value, 'keep');
  // What is known of the object beside its fields is no part of it.
  const stored: unknown = JSON.parse(JSON.stringify(withStoredEmpties(messageType(name), kept)));
  expect(stored).toEqual(read(name, value, 'null'));
});

test('an empty list is kept unless its field is omitempty', () => {
  expect(read('rbac/v1.Role', { rules: [{ verbs: [], resources: [] }] }, 'keep')['rules']).toEqual([
    { verbs: [] },
  ]);
  expect(read('rbac/v1.Role', { rules: [] }, 'null')['rules']).toBeNull();
});

test('an object without empties is returned as it is', () => {
  const type = messageType('core/v1.Pod');
  const { object } = decodeObject(type, { spec: { containers: [{ name: 'c' }] } });
  expect(withStoredEmpties(type, object)).toBe(object);
});

test('recursive types terminate', () => {
  for (const name of messageNames()) expect(withStoredEmpties(messageType(name), {})).toEqual({});
});
