import type { FieldType, MessageType } from '../types';

/** A sample that is not empty for each kind of scalar. */
const SCALAR_SAMPLES: Readonly<Record<string, unknown>> = {
  string: 'text',
  bool: true,
  int32: 7,
  int64: 8,
  double: 1.5,
  bytes: 'AQID',
  time: '2021-04-08T16:31:21Z',
  microTime: '2021-04-08T16:31:21.000001Z',
  quantity: '250m',
  intOrString: '50%',
  rawExtension: { kind: 'Any', apiVersion: 'example.com/v1', nested: [1, null] },
  fieldsV1: { 'f:metadata': { 'f:labels': {} } },
  json: { any: ['thing'] },
  stringList: ['a', 'b'],
  schemaOrBool: true,
  schemaOrArray: [{ type: 'string' }],
  schemaOrStringArray: ['other'],
};

/** Levels to which a message that contains itself is filled. */
const SELF_LEVELS = 2;

/** Returns an object of the type in which every field has a value. */
export function filledObject(type: MessageType, above: readonly string[] = []): Record<string, unknown> {
  const object: Record<string, unknown> = type.typeMeta ? { kind: 'Kind', apiVersion: 'group/v1' } : {};
  const below = [...above, type.name];
  for (const field of type.fields) {
    if (
      field.message !== undefined &&
      below.filter((name) => name === field.message?.name).length >= SELF_LEVELS
    ) {
      if (!field.list && !field.map) continue;
    }
    const sample = sampleOf(field, below);
    if (sample === undefined) continue;
    object[field.name] = field.list ? [sample] : field.map ? { first: sample, second: sample } : sample;
  }
  return object;
}

function sampleOf(field: FieldType, above: readonly string[]): unknown {
  const scalar = SCALAR_SAMPLES[field.kind];
  if (scalar !== undefined) return scalar;
  const { message } = field;
  if (message === undefined || above.filter((name) => name === message.name).length >= SELF_LEVELS)
    return undefined;
  return filledObject(message, above);
}
