import { messageType } from '../schema/types';
import { DESCRIBED, describeField, describeMessage } from './descriptions';
import { RESOURCES } from './resources';
import { SCHEMA_DATA } from './tables';

/** Messages by their names without the package. */
const FIELDS_OF = new Map<string, Set<string>>();
for (const [packageName, messages] of Object.entries(SCHEMA_DATA)) {
  for (const name of Object.keys(messages)) {
    const fields = FIELDS_OF.get(name) ?? new Set<string>();
    for (const field of messageType(`${packageName}.${name}`).fields) fields.add(field.name);
    FIELDS_OF.set(name, fields);
  }
}

test('every kind that is a resource says what it is, and so does its list', () => {
  const silent = RESOURCES.flatMap(({ schema, listKind }) => [
    schema,
    ...(listKind === '' ? [] : [schema.replace(/[^.]+$/, listKind)]),
  ]).filter((message) => describeMessage(message) === undefined);
  expect(silent).toEqual([]);
});

test('metadata, spec and status are described in every kind, and all fields of metadata', () => {
  expect(describeField('core/v1.Pod', 'spec')).toBe('What the object should be like.');
  expect(describeField('apps/v1.DeploymentList', 'items')).toBe('The objects of the list.');
  expect(describeField('core/v1.PodSpec', 'status')).toBeUndefined();
  const { fields } = messageType('meta/v1.ObjectMeta');
  expect(fields.filter(({ name }) => describeField('meta/v1.ObjectMeta', name) === undefined)).toEqual([]);
});

test('the table speaks of nothing that does not exist', () => {
  const unknown = DESCRIBED.filter((each) => {
    const [message = '', field] = each.split('.');
    const fields = FIELDS_OF.get(message);
    return fields === undefined || (field !== undefined && !fields.has(field));
  });
  expect(unknown).toEqual([]);
});

test('what is said is a sentence', () => {
  const said = DESCRIBED.map((each) => {
    const [message = '', field] = each.split('.');
    return field === undefined ? describeMessage(`x.${message}`) : describeField(`x.${message}`, field);
  });
  expect(said.filter((text) => text === undefined || !/^[A-Z$].*\.$/.test(text))).toEqual([]);
});
