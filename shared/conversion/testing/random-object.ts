import { createHash } from 'node:crypto';
import type { FieldType, MessageType } from '../../schema/types';
import { messageType } from '../../schema/types';
import type { ResourceRow } from '../../api/resources';

/** Returns the next number in [0, bound) of a seeded sequence. */
export type Random = (bound: number) => number;

export function seededRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return (bound) => {
    // xorshift32
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
}

const DEPTH_MAX = 7;
const RECURSION_ODDS = 12;

/** Meaningful strings for fields of these names. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  kind: ['User', 'Group', 'ServiceAccount', 'Deployment'],
  operator: ['In', 'Exists', 'DoesNotExist'],
};

/** Returns an object of the row's kind in which about half of all fields have a value. */
export function randomObject(row: ResourceRow, random: Random): Record<string, unknown> {
  const object = randomMessage(messageType(row.schema), random, 0);
  return { ...object, metadata: { name: 'a', ...(random(2) === 0 ? {} : { annotations: { own: 'kept' } }) } };
}

function randomMessage(type: MessageType, random: Random, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of type.fields) {
    // A recursive message would grow exponentially.
    const odds = field.message === type ? RECURSION_ODDS : 2;
    if (random(odds) !== 0 || (depth >= DEPTH_MAX && field.kind === 'message')) continue;
    object[field.name] = randomField(field, random, depth);
  }
  return object;
}

function randomField(field: FieldType, random: Random, depth: number): unknown {
  const one = (): unknown => randomValue(field, random, depth);
  if (field.list) return Array.from({ length: random(3) }, one);
  if (field.map)
    return Object.fromEntries(
      Array.from({ length: random(3) }, (_each, index) => [`k${String(index)}`, one()]),
    );
  return one();
}

function randomValue(field: FieldType, random: Random, depth: number): unknown {
  const words = WORDS[field.name] ?? ['', 'a', 'b', 'cpu'];
  const values: Readonly<Record<string, readonly unknown[]>> = {
    string: words,
    bool: [true, false],
    int32: [0, 1, 80],
    int64: [0, 1, 80],
    double: [0, 1.5],
    bytes: ['AQID', 'BA=='],
    time: ['2021-04-08T16:31:21Z', null],
    microTime: ['2021-04-08T16:31:21.000001Z', null],
    quantity: ['0', '250m', '1Gi'],
    intOrString: [0, 80, 'web'],
    rawExtension: [{ kind: 'Any', apiVersion: 'example.com/v1' }],
    fieldsV1: [{ 'f:metadata': {} }],
    json: [{ any: ['thing'] }],
    stringList: [['a']],
    schemaOrBool: [true],
    schemaOrArray: [[{ type: 'string' }]],
    schemaOrStringArray: [['other']],
  };
  const choices = values[field.kind];
  if (choices !== undefined) return choices[random(choices.length)];
  return field.message === undefined ? undefined : randomMessage(field.message, random, depth + 1);
}
