import { GROUP } from '../names';
import { messageNames, messageType, messageTypeOfKind, UNSTRUCTURED } from './types';

test('a type is linked once and knows its fields in the order of JSON', () => {
  const pod = messageType('core/v1.Pod');
  expect(messageType('core/v1.Pod')).toBe(pod);
  expect(pod.fields.map(({ name }) => name)).toEqual(['metadata', 'spec', 'status']);
  expect(pod.byName.get('spec')?.message).toBe(messageType('core/v1.PodSpec'));
});

test('an inlined message is flattened in JSON and nested in Protobuf', () => {
  const volume = messageType('core/v1.Volume');
  expect(volume.byName.get('hostPath')?.number).toBe(1);
  expect(volume.byName.has('volumeSource')).toBe(false);
  expect(volume.declared.map(({ name, inline }) => [name, inline])).toEqual([
    ['name', false],
    ['volumeSource', true],
  ]);
});

test('markers of patches and lists, and published defaults, are part of the field', () => {
  const ports = messageType('core/v1.Container').byName.get('ports');
  expect(ports).toMatchObject({
    listType: 'map',
    listMapKeys: ['containerPort', 'protocol'],
    patchStrategy: 'merge',
    patchMergeKey: 'containerPort',
  });
  expect(ports?.message?.byName.get('protocol')?.default).toBe('TCP');
});

test('every field of special form has the message that carries it in Protobuf', () => {
  const fields = messageNames().flatMap((name) => messageType(name).declared);
  const special = fields.filter(
    ({ kind }) => kind === 'stringList' || kind === 'json' || kind.startsWith('schemaOr'),
  );
  expect(new Set(special.map(({ kind }) => kind)).size).toBe(5);
  expect(special.every(({ message }) => message !== undefined)).toBe(true);
});

test('messageTypeOfKind finds kinds only', () => {
  expect(messageTypeOfKind({ group: GROUP.rbac, version: 'v1', kind: 'RoleList' })?.name).toBe(
    'rbac/v1.RoleList',
  );
  expect(messageTypeOfKind({ group: '', version: 'v1', kind: 'PodSpec' })).toBeUndefined();
  expect(messageTypeOfKind({ group: 'example.com', version: 'v1', kind: 'Pod' })).toBeUndefined();
  expect(messageTypeOfKind({ group: 'constructor', version: '', kind: 'name' })).toBeUndefined();
  expect(() => messageType('core/v1.Nothing')).toThrow('no message core/v1.Nothing');
});

test('an unstructured object has a typed envelope and is open', () => {
  expect(UNSTRUCTURED.open).toBe(true);
  expect(UNSTRUCTURED.byName.get('metadata')?.message?.name).toBe('meta/v1.ObjectMeta');
});
