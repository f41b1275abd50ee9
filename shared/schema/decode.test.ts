import * as fc from 'fast-check';
import type { JsonDocument } from './decode';
import {
  DecodeError,
  decodeJson,
  decodeObject,
  decodeJsonDocument,
  JSON_DEPTH_MAX,
  UNKNOWN_FIELDS_MAX,
} from './decode';
import { encodeObject } from './encode';
import { filledObject } from './testing/samples';
import type { FieldKind, FieldType, MessageType } from './types';
import { messageNames, messageType, UNSTRUCTURED } from './types';

const pod = messageType('core/v1.Pod');

function decoded(type: string, value: unknown): unknown {
  return plain(decodeObject(messageType(type), value).object);
}

/** Drops prototypes, so that `toEqual` compares what is on the wire. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function errorOf(run: () => unknown): DecodeError {
  try {
    run();
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function outcomeOf(run: () => unknown): string {
  try {
    run();
    return 'read';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

const kinds = messageNames().filter((name) => messageType(name).typeMeta);

describe('every kind', () => {
  test.each(kinds)('%s with every field filled survives a round-trip', (name) => {
    const type = messageType(name);
    const full = filledObject(type);
    const { object, unknownFields } = decodeObject(type, full, { unknown: 'report' });
    expect(unknownFields).toEqual([]);
    expect(plain(object)).toEqual(full);
    expect(decodeObject(type, decodeJson(encodeObject(object))).object).toEqual(object);
  });

  test.each(kinds)('%s begins with its envelope', (name) => {
    const text = encodeObject(
      decodeObject(messageType(name), { apiVersion: 'g/v1', kind: 'K' }).object,
    ).toString();
    const rest = messageType(name).byName.has('metadata') ? ',"metadata":{' : '';
    expect(text.startsWith(`{"kind":"K","apiVersion":"g/v1"${rest}`)).toBe(true);
  });

  test.each(kinds)('%s without any field is stable when decoded again', (name) => {
    const once = decodeObject(messageType(name), {}).object;
    expect(decodeObject(messageType(name), once).object).toEqual(once);
  });
});

describe('canonical form', () => {
  test('an empty pod has its structs, a null creationTimestamp and null for its required list', () => {
    expect(decoded('core/v1.Pod', {})).toEqual({
      metadata: { creationTimestamp: null },
      spec: { containers: null },
      status: {},
    });
  });

  test('empty structs without a pointer are written, inside templates too', () => {
    const deployment = { spec: { template: { spec: { containers: [{ name: 'a' }] } } } };
    expect(decoded('apps/v1.Deployment', deployment)).toEqual({
      metadata: { creationTimestamp: null },
      spec: {
        selector: null,
        template: {
          metadata: { creationTimestamp: null },
          spec: { containers: [{ name: 'a', resources: {} }] },
        },
        strategy: {},
      },
      status: {},
    });
    expect(decoded('core/v1.Service', {})).toEqual({
      metadata: { creationTimestamp: null },
      spec: {},
      status: { loadBalancer: {} },
    });
  });

  test('a zero value is omitted unless it is a pointer or required', () => {
    const spec = {
      hostNetwork: false,
      nodeName: '',
      priority: 0,
      automountServiceAccountToken: false,
      containers: [],
    };
    expect(decoded('core/v1.Pod', { spec })).toMatchObject({
      spec: { priority: 0, automountServiceAccountToken: false },
    });
    expect(Object.keys((decoded('core/v1.Pod', { spec }) as { spec: object }).spec)).toEqual([
      'containers',
      'automountServiceAccountToken',
      'priority',
    ]);
    expect(decoded('core/v1.ServicePort', {})).toEqual({ port: 0, targetPort: 0 });
    expect(decoded('core/v1.VolumeMount', {})).toEqual({ name: '', mountPath: '' });
  });

  test('an empty list or map is omitted, or null where the field is required', () => {
    expect(decoded('core/v1.ConfigMap', { data: {}, metadata: { labels: {}, finalizers: [] } })).toEqual({
      metadata: { creationTimestamp: null },
    });
    expect(decoded('rbac/v1.Role', { rules: [] })).toMatchObject({ rules: null });
    expect(decoded('core/v1.ConfigMapList', { items: [] })).toMatchObject({ items: [] });
    expect(decoded('apiextensions/v1.CustomResourceDefinitionStatus', { storedVersions: [] })).toMatchObject({
      storedVersions: [],
    });
  });

  test('null counts as absent in fields, and as the zero value in lists and maps', () => {
    expect(decoded('core/v1.ConfigMap', { data: null, immutable: null, kind: null })).toEqual({
      metadata: { creationTimestamp: null },
    });
    expect(decoded('core/v1.ConfigMap', { data: { a: null } })).toMatchObject({ data: { a: '' } });
    expect(decoded('core/v1.ConfigMap', { binaryData: { a: null } })).toMatchObject({
      binaryData: { a: '' },
    });
    expect(decoded('core/v1.Secret', { data: { a: [104, 105, null] } })).toMatchObject({
      data: { a: 'aGkA' },
    });
    expect(() => decoded('core/v1.Secret', { data: { a: [256] } })).toThrow(
      'number 256 into field data[a][0] of type uint8',
    );
    expect(decoded('core/v1.Secret', { data: { a: null } })).toMatchObject({ data: { a: '' } });
    expect(decoded('core/v1.Container', { args: [null, 'x'], ports: [null] })).toMatchObject({
      args: ['', 'x'],
      ports: [{ containerPort: 0 }],
    });
    expect(decoded('core/v1.ResourceRequirements', { limits: { cpu: null } })).toEqual({
      limits: { cpu: '0' },
    });
  });

  test('map keys are sorted and fields are in the order of the schema', () => {
    const value = {
      data: { b: '1', a: '2' },
      metadata: { namespace: 'n', name: 'x' },
      apiVersion: 'v1',
      kind: 'ConfigMap',
    };
    expect(encodeObject(decodeObject(messageType('core/v1.ConfigMap'), value).object).toString()).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"n","creationTimestamp":null},"data":{"a":"2","b":"1"}}',
    );
  });

  test('times, quantities and base64 are written in their canonical form', () => {
    expect(decoded('core/v1.Taint', { timeAdded: '2021-04-08T01:00:00.5+02:00' })).toMatchObject({
      timeAdded: '2021-04-07T23:00:00Z',
    });
    expect(
      decoded('core/v1.ResourceRequirements', { limits: { cpu: 0.5, memory: ' 1024Mi ', pods: 3 } }),
    ).toEqual({
      limits: { cpu: '500m', memory: '1Gi', pods: '3' },
    });
    expect(decoded('core/v1.Secret', { data: { a: 'YR==', b: 'YWJj\nZGVm', c: '' } })).toMatchObject({
      data: { a: 'YQ==', b: 'YWJjZGVm', c: '' },
    });
  });

  test('the zero time is null, or absent in an optional field', () => {
    const zero = '0001-01-01T00:00:00Z';
    expect(decoded('meta/v1.ObjectMeta', { creationTimestamp: zero, deletionTimestamp: zero })).toEqual({
      creationTimestamp: null,
    });
  });

  test('a port is a number or a name', () => {
    expect(decoded('core/v1.TCPSocketAction', { port: 80 })).toEqual({ port: 80 });
    expect(decoded('core/v1.TCPSocketAction', { port: 'http' })).toEqual({ port: 'http' });
  });

  test('values without a schema are kept as they are', () => {
    const data = { b: 1, a: [null, { x: {} }] };
    const object = decodeObject(messageType('apps/v1.ControllerRevision'), { data }).object;
    expect(object['data']).toBe(data);
    expect(decoded('apps/v1.ControllerRevision', {})).toMatchObject({ data: null, revision: 0 });
  });

  test('extra of a user is a map of lists, and verbs are a list', () => {
    expect(decoded('authentication/v1.UserInfo', { extra: { scopes: ['a', null], none: null } })).toEqual({
      extra: { none: null, scopes: ['a', ''] },
    });
    expect(decoded('meta/v1.APIResource', {})).toMatchObject({ verbs: null });
  });

  test('the schema of a custom resource keeps its unions', () => {
    const schema = {
      items: { type: 'string' },
      properties: { a: { items: [{ type: 'string' }, null] } },
      additionalProperties: false,
      dependencies: { x: ['y'], z: { type: 'object' } },
      default: { any: null },
      enum: ['a', null, 1],
    };
    expect(decoded('apiextensions/v1.JSONSchemaProps', schema)).toEqual({
      ...schema,
      properties: { a: { items: [{ type: 'string' }, {}] } },
    });
  });

  test('a claim template keeps its kind and apiVersion', () => {
    const claim = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'data' } };
    expect(decoded('apps/v1.StatefulSetSpec', { volumeClaimTemplates: [claim] })).toMatchObject({
      volumeClaimTemplates: [
        { ...claim, metadata: { name: 'data', creationTimestamp: null }, spec: { resources: {} } },
      ],
    });
  });
});

describe('unknown fields', () => {
  const value = {
    extra: 1,
    Metadata: {},
    metadata: { labels: { a: 'b' }, no: null },
    spec: { containers: [{ name: 'a' }, { nAme: 'b', env: [{ name: 'x', other: {} }] }] },
  };

  test('are dropped, and names are case-sensitive', () => {
    expect(decoded('core/v1.Pod', value)).toMatchObject({ spec: { containers: [{}, { name: '' }] } });
    expect(JSON.stringify(decoded('core/v1.Pod', value))).not.toMatch(/extra|other|nAme|Metadata/);
  });

  test('are named by path with report', () => {
    const { unknownFields } = decodeObject(pod, value, { unknown: 'report' });
    expect([...unknownFields].sort()).toEqual([
      'Metadata',
      'extra',
      'metadata.no',
      'spec.containers[1].env[0].other',
      'spec.containers[1].nAme',
    ]);
    expect(decodeObject(pod, value).unknownFields).toEqual([]);
  });

  test('are named up to UNKNOWN_FIELDS_MAX', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${String(index)}`, 1]));
    const { unknownFields } = decodeObject(pod, { ...many, metadata: many }, { unknown: 'report' });
    expect(unknownFields).toHaveLength(UNKNOWN_FIELDS_MAX);
  });
});

describe('prototype pollution', () => {
  test('__proto__ and constructor are ordinary keys, and nothing is inherited', () => {
    const text =
      '{"metadata":{"labels":{"__proto__":"p","constructor":"c","toString":"t"}},"__proto__":{"x":1}}';
    const { object } = decodeObject(messageType('core/v1.ConfigMap'), decodeJson(Buffer.from(text)));
    const labels = object.metadata.labels ?? {};
    expect(Object.entries(labels)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['toString', 't'],
    ]);
    expect(labels['valueOf']).toBeUndefined();
    expect(encodeObject(object).toString()).toContain(
      '"labels":{"__proto__":"p","constructor":"c","toString":"t"}',
    );
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('an object without a schema keeps all fields except unknown ones of metadata', () => {
    const text =
      '{"spec":{"a":[1,{"b":null}]},"__proto__":{"y":2},"metadata":{"name":"x","odd":1},"kind":"Any","apiVersion":"e/v1"}';
    const { object } = decodeObject(UNSTRUCTURED, decodeJson(Buffer.from(text)));
    expect(encodeObject(object).toString()).toBe(
      '{"kind":"Any","apiVersion":"e/v1","metadata":{"name":"x","creationTimestamp":null},"spec":{"a":[1,{"b":null}]},"__proto__":{"y":2}}',
    );
  });
});

describe('a value of the wrong type is refused with its path', () => {
  test.each<[string, unknown, string, string]>([
    ['core/v1.Pod', [], '', 'cannot unmarshal array into value of type object'],
    ['core/v1.Pod', null, '', 'cannot unmarshal null into value of type object'],
    ['core/v1.Pod', { kind: 1 }, 'kind', 'cannot unmarshal number 1 into field kind of type string'],
    ['core/v1.Pod', { spec: 'x' }, 'spec', 'cannot unmarshal string into field spec of type object'],
    [
      'core/v1.Pod',
      { spec: { containers: {} } },
      'spec.containers',
      'cannot unmarshal object into field spec.containers of type array',
    ],
    [
      'core/v1.Pod',
      { spec: { containers: [{}, { name: 1 }] } },
      'spec.containers[1].name',
      'cannot unmarshal number 1 into field spec.containers[1].name of type string',
    ],
    [
      'core/v1.Pod',
      { metadata: { labels: { a: 1 } } },
      'metadata.labels[a]',
      'cannot unmarshal number 1 into field metadata.labels[a] of type string',
    ],
    [
      'core/v1.Pod',
      { metadata: { labels: ['a'] } },
      'metadata.labels',
      'cannot unmarshal array into field metadata.labels of type map',
    ],
    [
      'core/v1.Pod',
      { spec: { hostNetwork: 'true' } },
      'spec.hostNetwork',
      'cannot unmarshal string into field spec.hostNetwork of type bool',
    ],
    [
      'core/v1.Pod',
      { spec: { priority: '1' } },
      'spec.priority',
      'cannot unmarshal string into field spec.priority of type int32',
    ],
    [
      'core/v1.Pod',
      { spec: { priority: 1.5 } },
      'spec.priority',
      'cannot unmarshal number 1.5 into field spec.priority of type int32',
    ],
    [
      'core/v1.Pod',
      { spec: { priority: 2 ** 31 } },
      'spec.priority',
      'cannot unmarshal number 2147483648 into field spec.priority of type int32',
    ],
    [
      'core/v1.Pod',
      { metadata: { generation: 2 ** 63 } },
      'metadata.generation',
      'cannot unmarshal number 9223372036854776000 into field metadata.generation of type int64',
    ],
    [
      'core/v1.Pod',
      { metadata: { generation: true } },
      'metadata.generation',
      'cannot unmarshal bool into field metadata.generation of type int64',
    ],
    [
      'core/v1.Pod',
      { metadata: { creationTimestamp: 5 } },
      'metadata.creationTimestamp',
      'cannot unmarshal number 5 into field metadata.creationTimestamp of type Time',
    ],
    ['core/v1.Secret', { data: { a: '?' } }, 'data[a]', 'data[a]: illegal base64 data'],
    ['core/v1.Secret', { data: { a: 'YWJ' } }, 'data[a]', 'data[a]: illegal base64 data'],
    [
      'core/v1.Secret',
      { data: { a: 5 } },
      'data[a]',
      'cannot unmarshal number 5 into field data[a] of type base64 string',
    ],
    [
      'core/v1.TCPSocketAction',
      { port: {} },
      'port',
      'cannot unmarshal object into field port of type IntOrString',
    ],
    [
      'core/v1.TCPSocketAction',
      { port: 0.5 },
      'port',
      'cannot unmarshal number 0.5 into field port of type int32',
    ],
    [
      'core/v1.ResourceRequirements',
      { limits: { cpu: '1 core' } },
      'limits[cpu]',
      "limits[cpu]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'core/v1.ResourceRequirements',
      { limits: { cpu: true } },
      'limits[cpu]',
      'cannot unmarshal bool into field limits[cpu] of type Quantity',
    ],
    [
      'authentication/v1.UserInfo',
      { extra: { a: ['x', 1] } },
      'extra[a][1]',
      'cannot unmarshal number 1 into field extra[a][1] of type string',
    ],
    [
      'authentication/v1.UserInfo',
      { extra: { a: 'x' } },
      'extra[a]',
      'cannot unmarshal string into field extra[a] of type array',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      { maximum: '1' },
      'maximum',
      'cannot unmarshal string into field maximum of type float64',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      { maximum: Infinity },
      'maximum',
      'cannot unmarshal number Infinity into field maximum of type float64',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      { items: [{ type: 1 }] },
      'items[0].type',
      'cannot unmarshal number 1 into field items[0].type of type string',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      { additionalProperties: 'x' },
      'additionalProperties',
      'cannot unmarshal string into field additionalProperties of type schema or bool',
    ],
    [
      'apiextensions/v1.JSONSchemaProps',
      { dependencies: { a: [1] } },
      'dependencies[a][0]',
      'cannot unmarshal number 1 into field dependencies[a][0] of type string',
    ],
  ])('%s %j at %s', (type, value, path, message) => {
    const error = errorOf(() => decoded(type, value));
    expect({ path: error.path, message: error.message }).toEqual({ path, message });
  });

  test('a value that is neither a schema nor a list of schemas becomes null', () => {
    const type = 'apiextensions/v1.JSONSchemaProps';
    for (const other of [1, true, 'x']) {
      expect(decoded(type, { items: other, dependencies: { a: other }, type: 'array' })).toEqual({
        type: 'array',
        dependencies: { a: null },
      });
    }
  });

  test('a long key is truncated in the path', () => {
    const error = errorOf(() => decoded('core/v1.ConfigMap', { data: { ['k'.repeat(100_000)]: 1 } }));
    expect(error.message.length).toBeLessThan(250);
  });

  const WRONG: Readonly<Partial<Record<FieldKind, unknown>>> = {
    string: 1,
    bool: 'true',
    int32: 'x',
    int64: [],
    double: 'x',
    bytes: 1,
    time: 'x',
    microTime: 'x',
    quantity: 'x',
    intOrString: true,
    stringList: 'x',
    schemaOrBool: 1,
    message: 'x',
  };

  test('every field of every message refuses a value of the wrong type and accepts the right one', () => {
    for (const type of messageNames().map(messageType)) {
      for (const field of type.fields) {
        const wrong = field.list || field.map ? 'x' : WRONG[field.kind];
        if (wrong === undefined) continue;
        const error = errorOf(() => decodeObject(type, { [field.name]: wrong }));
        expect(`${type.name}.${error.path}`).toBe(`${type.name}.${field.name}`);
      }
    }
  });
});

describe('bytes', () => {
  test('integers of 64 bits survive a round-trip exactly', () => {
    const text =
      '{"metadata":{"generation":9223372036854775807,"creationTimestamp":null},"spec":{"containers":null,"terminationGracePeriodSeconds":-9223372036854775808},"status":{}}';
    const { object } = decodeObject(pod, decodeJson(Buffer.from(text)));
    expect(object.metadata.generation).toBe(9223372036854775807n);
    expect(encodeObject(object).toString()).toBe(text);
    expect(decodeObject(pod, object).object).toEqual(object);
  });

  test('an integer beyond 64 bits is refused in a typed field and a float in an untyped one', () => {
    const bytes = Buffer.from('{"metadata":{"generation":9223372036854775808}}');
    expect(errorOf(() => decodeObject(pod, decodeJson(bytes))).path).toBe('metadata.generation');
    const digits = '9'.repeat(308);
    expect(decodeJson(Buffer.from(`{"a":${digits}}`))).toEqual({ a: Number(digits) });
  });

  test.each(['1e400', '-1E400', '2e308', `1${'0'.repeat(309)}`, '9'.repeat(1_000_000)])(
    'the number %.20s is refused, since JSON cannot represent infinity',
    (number) => {
      const { detail } = errorOf(() => decodeJson(Buffer.from(`{"a":[{"b":${number}}]}`)));
      expect(detail).toBe('a number is out of range');
    },
  );

  test('a number that is too large becomes Infinity with allowInfinite, and is reported', () => {
    const decode = (text: string): JsonDocument =>
      decodeJsonDocument(Buffer.from(text), { allowInfinite: true });
    expect(decode('{"a":[-1e400]}')).toMatchObject({ value: { a: [-Infinity] }, hasInfinite: true });
    expect(decode('{"a":1e40}').hasInfinite).toBe(false);
    expect(() => decode('1e400')).toThrow('out of range');
  });

  test('long numbers within the range are accepted', () => {
    expect(decodeJson(Buffer.from('[1e308,1e-400,"1e400",true]'))).toEqual([1e308, 0, '1e400', true]);
  });

  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['\u{feff}{}', "invalid character 'ï' looking for beginning of value"],
    ['{"a":01234567890123456789}', "invalid character '1' after object key:value pair"],
  ])('bad syntax in %j is reported as %s', (text, problem) => {
    expect(errorOf(() => decodeJson(Buffer.from(text))).detail).toBe(problem);
  });

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('nesting of %s is allowed up to the limit and refused beyond it', (_, open, close) => {
    const nested = (levels: number): Buffer =>
      Buffer.from(`${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`);
    expect(decodeJson(nested(JSON_DEPTH_MAX))).toBeDefined();
    expect(errorOf(() => decodeJson(nested(JSON_DEPTH_MAX + 1))).detail).toMatch(
      /nested deeper than 1000 levels/,
    );
    expect(errorOf(() => decodeJson(nested(500_000))).detail).toMatch(/nested deeper/);
  });

  test('brackets in strings do not count as nesting', () => {
    const text = `{"a":"${'\\"['.repeat(5_000)}"}`;
    expect(decodeJson(Buffer.from(text))).toEqual({ a: '"['.repeat(5_000) });
  });

  test('a schema that nests too deep is refused without a stack overflow', () => {
    const schema = messageType('apiextensions/v1.JSONSchemaProps');
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 20_000; level += 1) deep = { not: deep };
    expect(errorOf(() => decodeObject(schema, deep)).detail).toBe('nested too deep');
    let allowed: Record<string, unknown> = { type: 'string' };
    for (let level = 1; level < JSON_DEPTH_MAX; level += 1) allowed = { properties: { a: allowed } };
    expect(encodeObject(decodeObject(schema, allowed).object).toString()).toBe(JSON.stringify(allowed));
  });
});

describe('for any input', () => {
  const types: readonly MessageType[] = [
    'core/v1.Pod',
    'core/v1.Service',
    'core/v1.Secret',
    'apps/v1.StatefulSet',
    'autoscaling/v2beta2.HorizontalPodAutoscaler',
    'apiextensions/v1.CustomResourceDefinition',
    'flowcontrol/v1beta1.FlowSchema',
  ].map(messageType);

  test.each(types)('$name: the decoded form is stable over a round-trip', (type) => {
    fc.assert(
      fc.property(partialObject(type, 0), (value) => {
        const once = decodeObject(type, value).object;
        const bytes = encodeObject(once);
        const twice = decodeObject(type, decodeJson(bytes)).object;
        expect(encodeObject(twice).equals(bytes)).toBe(true);
        expect(encodeObject(decodeObject(type, once).object).equals(bytes)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test.each(types)('$name: any JSON is decoded or refused with a DecodeError', (type) => {
    fc.assert(
      fc.property(
        fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue(), data: fc.jsonValue() }),
        (value) => {
          expect(outcomeOf(() => decodeObject(type, value, { unknown: 'report' }))).toMatch(
            /^(?:read|DecodeError)$/,
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Generates objects of a type with some of its fields, whose values are often empty, null or not canonical. */
function partialObject(type: MessageType, level: number): fc.Arbitrary<Record<string, unknown>> {
  const fields = type.fields.filter(({ kind }) => level < 5 || kind !== 'message');
  return fc
    .subarray([...fields], { maxLength: Math.min(6, fields.length) })
    .chain((some) =>
      fc.record(Object.fromEntries(some.map((field) => [field.name, fieldValue(field, level)]))),
    );
}

function fieldValue(field: FieldType, level: number): fc.Arbitrary<unknown> {
  const value = elementValue(field, level);
  const nullable = fc.option(value, { freq: 4 });
  if (field.list) return fc.option(fc.array(nullable, { maxLength: 2 }));
  if (field.map) return fc.option(fc.dictionary(fc.string({ maxLength: 3 }), nullable, { maxKeys: 2 }));
  return nullable;
}

const DATES = { min: new Date(0), max: new Date(4e12), noInvalidDate: true } as const;

function elementValue(field: FieldType, level: number): fc.Arbitrary<unknown> {
  if (field.kind === 'message' && field.message !== undefined) return partialObject(field.message, level + 1);
  const byKind: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    string: fc.string({ maxLength: 4 }),
    bool: fc.boolean(),
    int32: fc.integer(),
    int64: fc.oneof(fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
    double: fc.double({ noNaN: true, noDefaultInfinity: true }),
    bytes: fc.base64String({ maxLength: 8 }),
    time: fc.date(DATES).map((date) => date.toISOString()),
    microTime: fc.date(DATES).map((date) => date.toISOString().replace('Z', '000+01:00')),
    quantity: fc.constantFrom('0', '0.5', '1024Mi', '1e3', '1.5Gi', '3n', 2, 0.25),
    intOrString: fc.oneof(fc.integer(), fc.string({ maxLength: 3 })),
    stringList: fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }),
    schemaOrArray: fc.constantFrom({ type: 'string' }, [{ type: 'string' }], []),
    schemaOrBool: fc.constantFrom(true, false, { type: 'string' }),
    schemaOrStringArray: fc.constantFrom(['a'], [], { type: 'string' }),
  };
  return byKind[field.kind] ?? fc.jsonValue({ maxDepth: 2 });
}

describe('a value in canonical form', () => {
  const given = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', labels: { b: '2', a: '1' }, creationTimestamp: '2021-01-02T03:04:05Z' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }, { name: 'd' }] },
  };

  test('is returned as it is, so decoding again allocates nothing', () => {
    const { object } = decodeObject(pod, given);
    expect(decodeObject(pod, object).object).toBe(object);
    expect(decodeObject(pod, object, { unknown: 'report' })).toEqual({ object, unknownFields: [] });
  });

  test('is shared with the result when a sibling changes', () => {
    const { object } = decodeObject(pod, given);
    const [first, second] = (object['spec'] as { containers: readonly object[] }).containers;
    const changed = {
      ...object,
      spec: { ...(object['spec'] as object), containers: [first, { ...second, image: '' }] },
    };
    const { object: again } = decodeObject(pod, changed);
    expect(again).toEqual(object);
    expect(again.metadata).toBe(object.metadata);
    expect((again['spec'] as { containers: readonly object[] }).containers[0]).toBe(first);
  });

  test.each<[string, (object: Record<string, unknown>) => object]>([
    ['fields in another order', ({ kind, apiVersion, ...rest }) => ({ apiVersion, kind, ...rest })],
    ['an unknown field', (object) => ({ ...object, nonsense: 1 })],
    ['an empty kind', (object) => ({ ...object, kind: '' })],
    ['a kind that is null', (object) => ({ ...object, kind: null })],
    ['a field that is null', (object) => ({ ...object, status: null })],
    ['a field that is undefined', (object) => ({ ...object, other: undefined })],
  ])('is not recognized with %s', (_what, change) => {
    const { object } = decodeObject(pod, given);
    const changed = change(object);
    const { object: again } = decodeObject(pod, changed);
    expect(again).not.toBe(changed);
    expect(Object.keys(again).filter((key) => key !== 'kind')).toEqual(
      Object.keys(object).filter((key) => key !== 'kind'),
    );
  });

  test('a map with a prototype is copied into one without', () => {
    const { object } = decodeObject(pod, given);
    const metadata = { ...object.metadata, labels: { a: '1', b: '2' } };
    const { labels } = decodeObject(pod, { ...object, metadata }).object.metadata;
    expect(labels).not.toBe(metadata.labels);
    expect((labels as Record<string, unknown>)['constructor']).toBeUndefined();
  });
});

test.each([
  ['short', 'x'],
  ['as long as one may be that is searched in steps', 'x'.repeat(64)],
  ['long', 'x'.repeat(300)],
  ['long, with quotes of its own', `${'x'.repeat(70)}"[[${'x'.repeat(70)}"]`],
  ['long, with a backslash at its end', `${'x'.repeat(70)}\\`],
  ['long, with a backslash where the search begins', `${'x'.repeat(63)}\\"[[${'x'.repeat(70)}`],
])('brackets in a string that is %s do not count as nesting, and those after it do', (_what, text) => {
  const bytes = Buffer.from(JSON.stringify({ [`${text}[[`]: [`[[${text}`, [1]] }));
  expect(decodeJson(bytes, { depthMax: 3 })).toEqual(JSON.parse(bytes.toString()));
  expect(() => decodeJson(bytes, { depthMax: 2 })).toThrow('nested deeper');
});

test.each(['"', `"${'x'.repeat(300)}`, `"${'x'.repeat(300)}\\"`, `"${'x'.repeat(63)}\\`])(
  'an unterminated string is a syntax error',
  (text) => {
    expect(() => decodeJson(Buffer.from(`{"a":${text}`))).toThrow(DecodeError);
  },
);
