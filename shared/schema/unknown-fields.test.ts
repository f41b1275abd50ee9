import { graftUnknownFields, hasUnknownFields } from './unknown-fields';
import { decodeObject } from './decode';
import { messageType } from './types';

const POD = messageType('core/v1.Pod');
const DEFINITION = messageType('apiextensions/v1.CustomResourceDefinition');

const pod = (spec: object): object => decodeObject(POD, { metadata: { name: 'x' }, spec }).object;

test.each<readonly [what: string, object: object, isUnknown: boolean]>([
  ['nothing', pod({ containers: [{ name: 'a' }] }), false],
  ['kind and version', { kind: 'Pod', apiVersion: 'v1', metadata: {} }, false],
  ['labels of any name', { metadata: { labels: { newer: 'x' } } }, false],
  ['a member of the object', { metadata: {}, newer: null }, true],
  ['a member in a list', { spec: { containers: [{ name: 'a' }, { newer: 1 }] } }, true],
  ['a member deep inside', { spec: { affinity: { nodeAffinity: { newer: 1 } } } }, true],
  ['managed fields of any name', { metadata: { managedFields: [{ fieldsV1: { 'f:newer': {} } }] } }, false],
])('hasUnknownFields: %s', (_what, object, isUnknown) => {
  expect(hasUnknownFields(POD, object)).toBe(isUnknown);
});

test('unknown fields of nested schemas are found in every form of a union', () => {
  const withSchema = (openAPIV3Schema: object): object => ({
    spec: { versions: [{ schema: { openAPIV3Schema } }] },
  });
  expect(hasUnknownFields(DEFINITION, withSchema({ properties: { newer: { type: 'string' } } }))).toBe(false);
  expect(hasUnknownFields(DEFINITION, withSchema({ properties: { a: { newer: 1 } } }))).toBe(true);
  expect(hasUnknownFields(DEFINITION, withSchema({ items: { newer: 1 } }))).toBe(true);
  expect(hasUnknownFields(DEFINITION, withSchema({ additionalProperties: true }))).toBe(false);
});

test('grafting shares unchanged messages', () => {
  const next = pod({ containers: [{ name: 'a' }], volumes: [{ name: 'v' }] }) as never;
  const stored = { spec: { containers: [{ name: 'a', newer: 1 }], volumes: [{ name: 'v' }] } };
  const { object, lost } = graftUnknownFields<Record<string, never>>(POD as never, next, stored);
  expect(lost).toEqual([]);
  expect(object).toMatchObject({ spec: { containers: [{ name: 'a', newer: 1 }] } });
  expect(object['metadata']).toBe(next['metadata']);
  expect(graftUnknownFields(POD, next, next).object).toBe(next);
});

test('a field named like an inherited property is ordinary data', () => {
  const stored = JSON.parse('{"metadata":{},"__proto__":{"a":1},"constructor":2}') as object;
  const { object } = graftUnknownFields(POD, pod({ containers: [] }) as never, stored);
  expect(Object.entries(object).slice(-2)).toEqual([
    ['__proto__', { a: 1 }],
    ['constructor', 2],
  ]);
});

test('equal items keep their own unknown fields', () => {
  const tolerations = [{ key: 'a' }, { key: 'a' }];
  const next = pod({ containers: [], tolerations });
  const stored = {
    spec: {
      tolerations: [
        { key: 'a', newer: 1 },
        { key: 'a', newer: 2 },
      ],
    },
  };
  const { object, lost } = graftUnknownFields(POD, next as never, stored);
  expect(object).toMatchObject({ spec: { tolerations: [{ newer: 1 }, { newer: 2 }] } });
  expect(lost).toEqual([]);
});

test('a changed managedFields entry is not reported as lost, and the others keep their fields', () => {
  const entry = (manager: string, time: string): object => ({ manager, operation: 'Update', time });
  const before = '2026-01-01T00:00:00Z';
  const owned = (...managedFields: readonly object[]): object => ({ metadata: { name: 'x', managedFields } });
  const next = decodeObject(POD, owned(entry('a', before), entry('b', '2026-01-01T00:00:01Z'))).object;
  const stored = owned({ ...entry('a', before), newer: 1 }, { ...entry('b', before), newer: 2 });
  const { object, lost } = graftUnknownFields(POD, next, stored);
  expect(lost).toEqual([]);
  expect(object.metadata.managedFields).toMatchObject([{ manager: 'a', newer: 1 }, { manager: 'b' }]);
  expect(object.metadata.managedFields?.[1]).not.toHaveProperty('newer');
});

test('a changed container status is not reported as lost, since the kubelet rewrites it', () => {
  const statuses = (...containerStatuses: readonly object[]): object => ({ status: { containerStatuses } });
  const { object: next } = decodeObject(
    POD,
    statuses({ name: 'a', ready: true }, { name: 'b', ready: true }),
  );
  const { containerStatuses: [a, b] = [] } = next.status ?? {};
  const stored = statuses({ ...a, newer: 1 }, { ...b, ready: false, newer: 2 });
  const { object, lost } = graftUnknownFields(POD, next, stored);
  expect(lost).toEqual([]);
  expect(object.status).toMatchObject({
    containerStatuses: [
      { name: 'a', newer: 1 },
      { name: 'b', ready: true },
    ],
  });
  expect(object.status?.containerStatuses?.[1]).not.toHaveProperty('newer');
});

test('matching a long list is linear in its length', () => {
  const ITEMS = 300;
  let reads = 0;
  const tolerations = Array.from({ length: ITEMS }, (_, index) => ({
    get key() {
      reads += 1;
      return `old-${String(index)}`;
    },
    newer: index,
  }));
  const changed = tolerations.map((_, index) => ({ key: `new-${String(index)}` }));
  const next = pod({ containers: [], tolerations: changed });
  const { lost } = graftUnknownFields(POD, next as never, { spec: { tolerations } });
  expect(lost).toHaveLength(ITEMS);
  expect(lost.at(-1)).toBe(`spec.tolerations[${String(ITEMS - 1)}]`);
  expect(reads).toBeLessThan(10 * ITEMS);
});
