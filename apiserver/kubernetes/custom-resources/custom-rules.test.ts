import type * as Apis from '../../testing/in-process-api';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import type * as Definitions from '../../testing/custom-resources/definitions';
import type * as CrdRules from '../kinds/apiextensions/crd-rules';
import type * as LoopBounds from '../../engine/request/loop-bounds';
import type * as RuleTree from '../../../shared/cel/schema/rule-tree';
import type * as CustomRules from './custom-rules';
import type { ReadonlyJson } from '../../../shared/object/json';
import { loadAtLevel } from '../../../shared/testing/load-at-level';

const modules = loadAtLevel('1.36', () => ({
  apis: jest.requireActual<typeof Apis>('../../testing/in-process-api'),
  definitions: jest.requireActual<typeof Definitions>('../../testing/custom-resources/definitions'),
}));
let api: InProcessApi;

beforeEach(async () => {
  api = await modules.apis.startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const RULES = 'x-kubernetes-validations';
const spec = (properties: ReadonlyJson, ...rules: readonly ReadonlyJson[]): ReadonlyJson => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties, [RULES]: rules },
    status: { type: 'object', properties: { seen: { type: 'integer' } } },
  },
});
const NUMBERS = {
  min: { type: 'integer' },
  max: { type: 'integer' },
  name: { type: 'string', maxLength: 9 },
};

async function define(schema: ReadonlyJson): Promise<void> {
  const { definitionBody } = modules.definitions;
  await modules.definitions.define(
    api,
    definitionBody({ versions: [{ name: 'v1', schema, subresources: { status: {} } }] }),
  );
}

async function send(method: string, path: string, body: object): Promise<Reply> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  return api.call(method, `${modules.definitions.GIZMOS_PATH}${path}`, { body, headers });
}

const causes = ({ json }: Reply): string[] =>
  ((json.details?.causes ?? []) as { field: string; message: string }[]).map(
    ({ field, message }) => `${field}: ${message}`,
  );

test('rules refuse creates, updates, patches and writes of the status', async () => {
  const { gizmo } = modules.definitions;
  await define({
    ...spec(
      NUMBERS,
      { rule: 'self.min <= self.max', message: 'min above max' },
      {
        rule: '!has(self.name) || self.name == oldSelf.name',
        fieldPath: '.name',
        reason: 'FieldValueForbidden',
      },
    ),
    [RULES]: [
      { rule: "self.metadata.name != 'bad'", messageExpression: "'not ' + self.metadata.name" },
      { rule: '!has(self.status) || !has(self.status.seen) || self.status.seen > 0' },
    ],
  });
  expect(causes(await send('POST', '', gizmo('a', { spec: { min: 2, max: 1 } })))).toEqual([
    'spec: Invalid value: min above max',
  ]);
  expect(causes(await send('POST', '', gizmo('bad', { spec: { min: 1, max: 1 } })))).toEqual([
    '<nil>: Invalid value: not bad',
  ]);
  expect(causes(await send('POST', '', gizmo('a', { spec: {} })))).toEqual([
    'spec: Invalid value: "object": no such key: min evaluating rule: min above max',
  ]);
  expect((await send('POST', '', gizmo('a', { spec: { min: 1, max: 1, name: 'n' } }))).code).toBe(201);
  expect(causes(await send('PATCH', '/a', { spec: { min: 9 } }))).toEqual([
    'spec: Invalid value: min above max',
  ]);
  expect(causes(await send('PATCH', '/a', { spec: { name: 'm' } }))).toEqual([
    'spec.name: Forbidden: failed rule: !has(self.name) || self.name == oldSelf.name',
  ]);
  expect(causes(await send('PATCH', '/a/status', { status: { seen: 0 } }))[0]).toContain(
    '<nil>: Invalid value: failed rule: ',
  );
  expect((await send('PATCH', '/a/status', { status: { seen: 1 } })).code).toBe(200);
});

test('items of keyed lists are compared with their previous state, and unchanged parts may keep failing', async () => {
  const { gizmo } = modules.definitions;
  const items = {
    type: 'object',
    required: ['k'],
    properties: { k: { type: 'string' }, v: { type: 'integer' } },
    [RULES]: [{ rule: 'self.v >= oldSelf.v' }],
  };
  const list = {
    type: 'array',
    maxItems: 5,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items,
  };
  await define(spec({ list, odd: { type: 'integer' } }));
  await send(
    'POST',
    '',
    gizmo('a', {
      spec: {
        list: [
          { k: 'x', v: 1 },
          { k: 'y', v: 2 },
        ],
        odd: 2,
      },
    }),
  );
  const moved = await send('PATCH', '/a', {
    spec: {
      list: [
        { k: 'y', v: 1 },
        { k: 'x', v: 1 },
      ],
    },
  });
  expect(causes(moved)).toEqual(['spec.list[0]: Invalid value: failed rule: self.v >= oldSelf.v']);
  const path = modules.definitions.DEFINITIONS_PATH;
  const stricter = {
    schema: {
      openAPIV3Schema: spec({ list, odd: { type: 'integer', [RULES]: [{ rule: 'self % 2 == 1' }] } }),
    },
  };
  const name = modules.definitions.definitionBody().metadata.name;
  const { json } = await api.call('GET', `${path}/${name}`);
  const versions = [{ ...json.spec.versions[0], ...stricter }];
  expect(
    (await api.call('PUT', `${path}/${name}`, { body: { ...json, spec: { ...json.spec, versions } } })).code,
  ).toBe(200);
  expect((await send('PATCH', '/a', { metadata: { labels: { l: '1' } } })).code).toBe(200);
  expect(causes(await send('PATCH', '/a', { spec: { odd: 4 } }))).toEqual([
    'spec.odd: Invalid value: 4: failed rule: self % 2 == 1',
  ]);
});

test('rules of an object with a value outside of its enum are not checked', async () => {
  const { gizmo } = modules.definitions;
  const color = { type: 'string', enum: ['red'] };
  await define(spec({ color }, { rule: "self.color == 'red'", message: 'not red' }));
  expect(causes(await send('POST', '', gizmo('a', { spec: { color: 'blue' } })))).toEqual([
    expect.stringContaining('spec.color: Unsupported value'),
    expect.stringContaining('some validation rules were not checked'),
  ]);
});

test('a definition is replaced only with a version', async () => {
  const { definitionBody, DEFINITIONS_PATH } = modules.definitions;
  await define(spec(NUMBERS));
  const body = definitionBody({ versions: [{ name: 'v1', schema: spec(NUMBERS) }] });
  const reply = await api.call('PUT', `${DEFINITIONS_PATH}/gizmos.example.com`, { body });
  expect(causes(reply)).toEqual([
    'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  ]);
});

/** Loads the rules of custom resources at an API level. */
function rulesAt(level: string): typeof CustomRules & typeof CrdRules & typeof RuleTree & typeof LoopBounds {
  return loadAtLevel(level, () => ({
    ...jest.requireActual<typeof CustomRules>('./custom-rules'),
    ...jest.requireActual<typeof CrdRules>('../kinds/apiextensions/crd-rules'),
    ...jest.requireActual<typeof RuleTree>('../../../shared/cel/schema/rule-tree'),
    ...jest.requireActual<typeof LoopBounds>('../../engine/request/loop-bounds'),
  }));
}

const ruled = (rule: string): { type: string; [RULES]: { rule: string }[] } => ({
  type: 'integer',
  [RULES]: [{ rule }],
});

test.each([
  ['1.29', 1],
  ['1.30', 0],
])('at level %s an unchanged value that fails a rule gives %i errors', (level, count) => {
  const { ruleTreeOf, validateByRules } = rulesAt(level);
  const schema = { type: 'object', properties: { a: ruled('self > 5') } };
  const check = { rules: ruleTreeOf(schema), wrongValues: [], bounds: undefined };
  expect(validateByRules({ a: 1 }, { a: 1 }, check)).toHaveLength(count);
});

describe('long rules', () => {
  const long = `self > 0 ${'&& self > 0 '.repeat(80)}`;

  test('are compiled in a worker by the first write', async () => {
    const { ruleTreeOf, warmRules, LOOP_BOUNDS, TooLargeHereError } = rulesAt('1.36');
    const tree = ruleTreeOf(ruled(long + long.replace('self', '&& self')));
    await expect(warmRules(tree, LOOP_BOUNDS)).rejects.toThrow(TooLargeHereError);
    await warmRules(tree, undefined);
    expect(warmRules(tree, LOOP_BOUNDS)).toBeUndefined();
  });

  test('of all versions of a definition together go to a worker', () => {
    const { ruleDemands, validateRules, LOOP_BOUNDS, TooLargeHereError } = rulesAt('1.36');
    const demands = ruleDemands(undefined, LOOP_BOUNDS);
    if (demands === undefined) throw new Error('the level has no rules');
    const place = { demands, hasErrors: false, isUnchanged: false };
    expect(validateRules(ruled(long), 's', place)).toEqual([]);
    expect(validateRules(ruled(long), 's', place)).toEqual([]);
    expect(() => validateRules(ruled(`1 < 2 && ${long}`), 's', place)).toThrow(TooLargeHereError);
  });
});

test('a rule that costs too much is accepted in a version whose schema is unchanged', () => {
  const { ruleDemands, validateRules } = rulesAt('1.36');
  const list = { type: 'array', items: { type: 'string' }, [RULES]: [{ rule: 'self.all(a, a in self)' }] };
  const version = { name: 'v1', schema: { openAPIV3Schema: list } };
  const stored = { spec: { versions: [version] } } as unknown as Parameters<typeof ruleDemands>[0];
  const demands = ruleDemands(stored, undefined);
  if (demands === undefined) throw new Error('the level has no rules');
  const errorsOf = (isUnchanged: boolean): readonly string[] =>
    validateRules(list, 's', { demands, hasErrors: false, isUnchanged })
      .filter(({ message }) => message.includes('estimated rule cost exceeds'))
      .map(({ field }) => field);
  const versionOf = (name: string): Parameters<typeof demands.hadSchema>[0] =>
    ({ ...version, name }) as unknown as Parameters<typeof demands.hadSchema>[0];
  expect([demands.hadSchema(versionOf('v1')), demands.hadSchema(versionOf('v2'))]).toEqual([true, false]);
  expect([errorsOf(false).length, errorsOf(true).length]).toEqual([1, 0]);
});

test.each<[string, ReadonlyJson, string]>([
  ['does not compile', spec(NUMBERS, { rule: 'self.min < self.name' }), 'found no matching overload'],
  [
    'is shown with all of its fields',
    spec(NUMBERS, { rule: 'self.min < self.name', message: 'a', fieldPath: '.min' }),
    'rule: Invalid value: {"Rule":"self.min \\u003c self.name","Message":"a","MessageExpression":"","Reason":null,"FieldPath":".min","OptionalOldSelf":null}: compilation failed: ',
  ],
  ['is no bool', spec(NUMBERS, { rule: 'self.min' }), 'cel expression must evaluate to a bool'],
  ['is empty', spec(NUMBERS, { rule: ' ' }), 'rule: Required value: rule is not specified'],
  [
    'has no such field path',
    spec(NUMBERS, { rule: 'true', fieldPath: '.x' }),
    'fieldPath: Invalid value: ".x": must be a valid path',
  ],
  [
    'costs too much',
    spec(
      { list: { type: 'array', items: { type: 'string' } } },
      { rule: 'self.list.all(a, self.list.all(b, a == b))' },
    ),
    'rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x',
  ],
  [
    'uses oldSelf in an atomic list',
    spec({
      list: {
        type: 'array',
        maxItems: 2,
        items: { type: 'integer', [RULES]: [{ rule: 'self == oldSelf' }] },
      },
    }),
    'oldSelf cannot be used on the uncorrelatable portion of the schema within ',
  ],
])('a definition with a rule that %s is refused', async (_, schema, message) => {
  const { definitionBody, DEFINITIONS_PATH } = modules.definitions;
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    ...definitionBody({ versions: [{ name: 'v1', schema }] }),
  };
  const reply = await api.call('POST', DEFINITIONS_PATH, { body: { ...body, apiVersion: undefined } });
  expect(reply.code).toBe(422);
  expect(causes(reply).join('\n')).toContain(message);
});

describe('selectable fields', () => {
  const schema = {
    type: 'object',
    properties: {
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        properties: {
          color: { type: 'string' },
          size: { type: 'integer' },
          parts: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  };
  const version = (...paths: readonly string[]): Definitions.TestVersion => ({
    name: 'v1',
    schema,
    selectableFields: paths.map((jsonPath) => ({ jsonPath })),
  });
  const names = async (selector: string): Promise<readonly unknown[]> => {
    const reply = await api.call('GET', `${modules.definitions.GIZMOS_PATH}?fieldSelector=${selector}`);
    return (reply.json.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  };

  test('select by strings and numbers, also after the definition changes', async () => {
    const { definitionBody, gizmo, define: create } = modules.definitions;
    await create(api, definitionBody({ versions: [version('.spec.color')] }));
    await send('POST', '', gizmo('red', { spec: { color: 'red', size: 1 } }));
    await send('POST', '', gizmo('blue', { spec: { color: 'blue', size: 2 } }));
    expect(await names('spec.color=red')).toEqual(['red']);
    expect(await names('spec.color!=red')).toEqual(['blue']);
    const path = `${modules.definitions.GIZMOS_PATH}?fieldSelector=spec.size=1`;
    expect((await api.call('GET', path)).code).toBe(400);
    const url = `${modules.definitions.DEFINITIONS_PATH}/gizmos.example.com`;
    const fields = [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }];
    const body = [{ op: 'replace', path: '/spec/versions/0/selectableFields', value: fields }];
    const headers = { 'content-type': 'application/json-patch+json' };
    expect((await api.call('PATCH', url, { body, headers })).code).toBe(200);
    expect(await names('spec.size=2')).toEqual(['blue']);
  });

  test('are refused outside of the schema, in metadata, for lists and twice', async () => {
    const { definitionBody } = modules.definitions;
    const body = definitionBody({
      versions: [
        version('.spec.none', '.metadata', '.spec.parts', '.spec.size', '.spec.size', '', ".spec['size']"),
      ],
    });
    const reply = await api.call('POST', modules.definitions.DEFINITIONS_PATH, { body });
    expect(reply.code).toBe(422);
    const at = (index: number): string => `spec.versions[0].selectableFields[${String(index)}].jsonPath`;
    const text = (message: string): unknown => expect.stringContaining(message);
    expect(causes(reply)).toEqual([
      text(`${at(0)}: Invalid value: ".spec.none": is an invalid path`),
      text(`${at(1)}: Invalid value: ".metadata": must not point to fields in metadata`),
      text(`${at(1)}: Invalid value: ".metadata": must point to a field of type`),
      text(`${at(2)}: Invalid value: ".spec.parts": must point to a field of type`),
      text(`${at(4)}: Duplicate value`),
      text(`${at(5)}: Required value`),
      text(`${at(6)}: Invalid value: ".spec['size']": is an invalid path: array notation is not allowed`),
    ]);
  });
});

describe('after a stricter definition', () => {
  const schemaOf = (leaf: ReadonlyJson, most: number): ReadonlyJson => {
    const item = { type: 'object', required: ['key'], properties: { key: { type: 'string' }, kind: leaf } };
    const keyed = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
      items: item,
    };
    const properties = {
      kind: leaf,
      other: { type: 'string' },
      keyed,
      atomic: { type: 'array', items: item, maxItems: most },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { kind: leaf } } },
      either: { type: 'object', properties: { kind: leaf }, anyOf: [{ required: ['kind'] }] },
    };
    return spec(properties, { rule: 'has(self.kind)' });
  };
  const stored = {
    kind: 'old',
    keyed: [
      { key: 'a', kind: 'old' },
      { key: 'b', kind: 'old' },
    ],
    atomic: [{ key: 'a', kind: 'old' }, { key: 'b' }],
    map: { a: { kind: 'old' }, b: {} },
    either: { kind: 'old' },
  };
  const NOT_CHECKED =
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  const unsupported = (field: string, value = 'old'): string =>
    `spec.${field}: Unsupported value: "${value}": supported values: "new"`;

  beforeEach(async () => {
    const { gizmo, DEFINITIONS_PATH, definitionBody } = modules.definitions;
    await define(schemaOf({ type: 'string' }, 9));
    expect((await send('POST', '', gizmo('a', { spec: stored }))).code).toBe(201);
    const schema = schemaOf({ type: 'string', enum: ['new'] }, 1);
    const body = definitionBody({ versions: [{ name: 'v1', schema, subresources: { status: {} } }] });
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect((await api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body, headers })).code).toBe(
      200,
    );
  });

  test.each<[string, object, readonly string[]]>([
    ['nothing', {}, []],
    ['a field beside it', { other: 'x' }, []],
    ['the value', { kind: 'next' }, [unsupported('kind', 'next')]],
    [
      'an item of a keyed list',
      {
        keyed: [
          { key: 'b', kind: 'next' },
          { key: 'a', kind: 'old' },
        ],
      },
      [unsupported('keyed[0].kind', 'next')],
    ],
    [
      'an item of another list, and its length as before',
      { atomic: [{ key: 'a', kind: 'old' }, { key: 'c' }] },
      ['spec.atomic: Too many: 2: must have at most 1 items', unsupported('atomic[0].kind')],
    ],
    ['one value of a map', { map: { b: { kind: 'old' } } }, [unsupported('map.b.kind')]],
    ['what one alternative refuses', { either: { kind: 'next' } }, [unsupported('either.kind', 'next')]],
  ])('an update that changes %s is refused for changed values alone', async (_what, changed, expected) => {
    const reply = await send('PATCH', '/a', { spec: changed });
    expect({ code: reply.code, causes: causes(reply).toSorted() }).toEqual({
      code: expected.length === 0 ? 200 : 422,
      causes: (expected.length === 0 ? [] : [...expected, NOT_CHECKED]).toSorted(),
    });
  });

  test('a status may be written, and new objects are refused', async () => {
    expect((await send('PATCH', '/a/status', { status: { seen: 1 } })).code).toBe(200);
    const { gizmo } = modules.definitions;
    const refused = await send('POST', '', gizmo('b', { spec: { keyed: stored.keyed } }));
    expect(causes(refused)).toEqual([
      unsupported('keyed[0].kind'),
      unsupported('keyed[1].kind'),
      NOT_CHECKED,
    ]);
  });
});
