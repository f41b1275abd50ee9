import { messageType } from '../schema/types';
import { describeField, describeMessage } from './descriptions';
import { RESOURCES } from './resources';
import { SCHEMA_DATA } from './tables';

test('every kind of a resource and its list has a description', () => {
  const silent = RESOURCES.flatMap(({ schema, listKind }) => [
    schema,
    ...(listKind === '' ? [] : [schema.replace(/[^.]+$/, listKind)]),
  ]).filter((message) => describeMessage(message) === undefined);
  expect(silent).toEqual([]);
});

test('metadata, spec and status are described in every kind, and all fields of metadata', () => {
  expect(describeField('core/v1.Pod', 'spec')).toBe('What the object should be like.');
  expect(describeField('apps/v1.DeploymentList', 'items')).toBe('List of deployments.');
  expect(describeField('core/v1.ServiceList', 'items')).toBe('List of services.');
  expect(describeField('meta/v1.PartialObjectMetadataList', 'items')).toBe('List of objects.');
  expect(describeField('core/v1.PodSpec', 'status')).toBeUndefined();
  expect(describeField('apps/v1.DeploymentList', 'metadata')).toMatch(/^Standard list metadata\. /);
  expect(describeField('core/v1.PodTemplateSpec', 'metadata')).toMatch(/^Standard object's metadata\. /);
  const { fields } = messageType('meta/v1.ObjectMeta');
  expect(fields.filter(({ name }) => describeField('meta/v1.ObjectMeta', name) === undefined)).toEqual([]);
});

test('every description is a sentence', () => {
  const said = Object.values(SCHEMA_DATA).flatMap((messages) =>
    Object.values(messages).flatMap(({ doc, fields }) => [
      doc,
      ...Object.values(fields).map((field) => field.doc),
    ]),
  );
  expect(said.filter((text) => text !== undefined)).not.toEqual([]);
  expect(said.filter((text) => text !== undefined && !/^[A-Z$].*\.$/.test(text))).toEqual([]);
});
