import { ownKeyMap } from '../../../shared/own-key-map';
import type { WorstRequest } from './request';
import { filled, TYPE, numbered, post } from './request';

const GROUP = 'worst.example';
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
const CUSTOM = `/apis/${GROUP}/v1/namespaces/worst`;
export const WIDE_CUSTOM = `${CUSTOM}/wides`;
/** The largest size that etcd accepts. */
const SCHEMA_BYTES = 1_400_000;

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string' };
const FREE: Schema = { type: 'object', additionalProperties: TEXT };

/** Definitions that exist before the first request: kinds whose objects are expensive to validate. */
const KINDS = ownKeyMap<Schema>({
  Wide: {
    free: FREE,
    items: {
      type: 'array',
      items: { type: 'object', properties: { name: TEXT, number: { type: 'integer' } } },
    },
    patterns: { type: 'array', items: { type: 'string', pattern: '^(a+)+$' } },
    pattern: { type: 'string', pattern: '^(a|aa)*b$' },
    ips: { type: 'array', items: { type: 'string', format: 'ipv4' } },
    times: { type: 'array', items: { type: 'string', format: 'date-time' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: TEXT } },
    },
    defaulted: {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 30 }, (_, index) => [
            `f${String(index)}`,
            { type: 'string', default: 'value' },
          ]),
        ),
      },
    },
    chosen: {
      type: 'array',
      items: {
        type: 'object',
        properties: { a: TEXT },
        anyOf: Array.from({ length: 50 }, (_, index) => ({ required: [`f${String(index)}`] })),
      },
    },
    enums: {
      type: 'array',
      items: { type: 'string', enum: Array.from({ length: 1_000 }, (_, index) => `e${String(index)}`) },
    },
    // Few instructions, but a new state with nearly every character of a text.
    states: { type: 'string', pattern: '^[ab]*a[ab]{14}$' },
    chosenOfMany: {
      type: 'array',
      items: { type: 'object', anyOf: alternatives(400) },
    },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
  },
});

/** Only the last alternative matches an empty object. */
function alternatives(count: number): readonly object[] {
  return [
    ...Array.from({ length: count }, (_, index) => ({ required: [`f${String(index)}`] })),
    { maxProperties: 1 },
  ];
}

export const DEFINITIONS: readonly object[] = Array.from(KINDS.entries()).map(([kind, properties]) =>
  definition(kind, [
    version('v1', { spec: { type: 'object', properties } }),
    { ...version('v2', { spec: { type: 'object', properties } }), storage: false },
  ]),
);

function version(name: string, properties: Schema): object {
  return {
    name,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
  };
}

function definition(kind: string, versions: readonly object[]): object {
  const singular = kind.toLowerCase();
  const names = { kind, singular, plural: `${singular}s`, listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${GROUP}` },
    spec: { group: GROUP, scope: 'Namespaced', names, versions },
  };
}

/** A version with the maximum number for one definition, different in each version. */
function largePatterns(index: number): readonly [name: string, schema: string] {
  return [`v${String(index + 1)}`, schemaOfPatterns(index)];
}

function schemaOfPatterns(index: number): string {
  const patterns = Array.from({ length: 6 }, (_, at) => {
    const own = String(Date.now() * 1_000 + index * 10 + at);
    return `"p${String(at)}":{"type":"string","pattern":"((ab|cd){0,50}){0,10}${own}"}`;
  });
  return `{"type":"object","properties":{${patterns.join(',')}}}`;
}

/** Case-insensitive patterns: the other case of each character in a range is computed. */
const FOLDED: readonly (readonly [name: string, pattern: string])[] = [
  ['ranges of all characters', '(?i)[Ā-\u{1ffff}]'.repeat(600)],
  ['one range of all characters', '(?i)[Ā-\u{1ffff}]'],
  ['classes of letters', '(?i)' + '\\pL'.repeat(65)],
];

type Item = string | ((index: number) => string);

/** For the properties of one schema. */
const SCHEMAS: readonly (readonly [name: string, begin: string, item: Item, end: string])[] = [
  ['properties', '"properties":{', numbered('"p#":{"type":"string"}'), '}'],
  ['properties without types', '"properties":{', numbered('"p#":{}'), '}'],
  ['patterns', '"properties":{', numbered('"p#":{"type":"string","pattern":"^(a+)+[0-9]{3}#$"}'), '}'],
  ['bad patterns', '"properties":{', numbered('"p#":{"type":"string","pattern":"("}'), '}'],
  [
    'large repetitions',
    '"properties":{',
    numbered('"p#":{"type":"string","pattern":"((a{0,30}){0,30})"}'),
    '}',
  ],
  ['one enum', '"properties":{"a":{"type":"string","enum":[', numbered('"e#"'), ']}}'],
  ['alternatives', '"properties":{"a":{"type":"string","anyOf":[', '{"minLength":1}', ']}}'],
  ['required', '"required":[', numbered('"r#"'), ']'],
  [
    'defaults',
    '"properties":{',
    numbered('"p#":{"type":"object","default":{},"properties":{"a":{"type":"string","default":"x"}}}'),
    '}',
  ],
  [
    'one long default',
    '"properties":{"a":{"type":"array","items":{"type":"integer"},"default":[',
    '0',
    ']}}',
  ],
  [
    'lists by keys',
    '"properties":{"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[',
    numbered('"k#"'),
    '],"items":{"type":"object"}}}',
  ],
];

const SCHEMA_REQUESTS = SCHEMAS.map(([name, begin, item, end]) =>
  json(`definition: ${name}`, DEFINITION, () => {
    const schema = filled({ begin: `{"type":"object",${begin}`, item, end: `${end}}`, bytes: SCHEMA_BYTES });
    return textOf([['v1', schema]]);
  }),
);

function textOf(versions: readonly (readonly [name: string, schema: string])[]): string {
  const base = JSON.stringify({ ...definition('Other', []), spec: undefined }).slice(0, -1);
  const texts = versions.map(
    ([name, schema], index) =>
      `{"name":"${name}","served":true,"storage":${String(index === 0)},"schema":{"openAPIV3Schema":${schema}}}`,
  );
  return `${base},"spec":{"group":"${GROUP}","scope":"Namespaced","names":{"kind":"Other","plural":"others","singular":"other","listKind":"OtherList"},"versions":[${texts.join(',')}]}}`;
}

function custom(
  name: string,
  field: string,
  item: Item,
  {
    around: [open, close] = ['[', ']'],
    bytes,
  }: { readonly around?: readonly [string, string]; readonly bytes?: number } = {},
): WorstRequest {
  const between = open === '"' ? '' : ',';
  return json(`custom resource: ${name}`, `${WIDE_CUSTOM}?dryRun=All`, () =>
    filled({
      begin: `{"apiVersion":"${GROUP}/v1","kind":"Wide","metadata":{"name":"w"},"spec":{"${field}":${open}`,
      item,
      between,
      end: `${close}}}`,
      ...(bytes === undefined ? {} : { bytes }),
    }),
  );
}

export const DEFINITION_REQUESTS: readonly WorstRequest[] = [
  ...SCHEMA_REQUESTS,
  json('definition: deep', DEFINITION, () => {
    const depth = 1_500;
    return textOf([
      ['v1', `${'{"type":"object","properties":{"a":'.repeat(depth)}{"type":"string"}${'}}'.repeat(depth)}`],
    ]);
  }),
  json('definition: 2,000 versions', DEFINITION, () =>
    textOf(
      Array.from({ length: 2_000 }, (_, index): readonly [string, string] => [
        `v${String(index + 1)}`,
        '{"type":"object","properties":{"a":{"type":"string"}}}',
      ]),
    ),
  ),
  // Few values, so that it stays on the event loop.
  json('definition: few large patterns', DEFINITION, () =>
    textOf(Array.from({ length: 20 }, (_, index) => largePatterns(index))),
  ),
  json('definition: short names', DEFINITION, () =>
    textOf([['v1', '{"type":"object"}']]).replace(
      '"plural"',
      filled({ begin: '"shortNames":[', item: numbered('"s#"'), end: '],"plural"', bytes: SCHEMA_BYTES }),
    ),
  ),
  json('definition: columns', DEFINITION, () =>
    textOf([['v1', '{"type":"object"}']]).replace(
      '"schema"',
      filled({
        begin: '"additionalPrinterColumns":[',
        item: numbered('{"name":"c#","type":"string","jsonPath":".a[?(@.b==1)].c"}'),
        end: '],"schema"',
        bytes: SCHEMA_BYTES,
      }),
    ),
  ),
  custom('keys', 'free', numbered('"k#":""'), { around: ['{', '}'] }),
  custom('unknown fields', 'no', numbered('"k#":""'), { around: ['{', '}'] }),
  custom('anything', 'anything', '{}'),
  custom('empty items', 'items', '{}'),
  custom('items', 'items', numbered('{"name":"#","number":1}')),
  custom('items of a wrong type', 'items', '0'),
  custom('texts for a pattern', 'patterns', '"aaaaaaaaaaaaaaaaaaaa!"'),
  custom('one text for a pattern', 'pattern', 'a', { around: ['"', '"'] }),
  custom('addresses', 'ips', '"1.2.3.4"'),
  custom('times', 'times', '"2001-01-01T00:00:00Z"'),
  custom('set', 'set', numbered('"s#"')),
  custom('set of one', 'set', '"s"'),
  custom('map', 'map', numbered('{"name":"s#"}')),
  custom('defaults in items', 'defaulted', '{}'),
  custom('alternatives in items', 'chosen', '{}'),
  custom('enums in items', 'enums', '"e999"'),
];

const LETTERS = 'abbabaaabbbaababbabbbaaaab';

/** Small objects, processed on the event loop, that are expensive because of their schema. */
export const COSTLY_VALUES: readonly WorstRequest[] = [
  custom('within the bounds, text for a pattern of many states', 'states', letter, {
    around: ['"', '"'],
    bytes: 100_000,
  }),
  custom('within the bounds, items with many alternatives', 'chosenOfMany', '{}', { bytes: 8_000 }),
  json('definition: within the bounds, default with many alternatives', DEFINITION, () => {
    const items = { type: 'object', anyOf: alternatives(400) };
    const list = { type: 'array', items, default: Array.from({ length: 1_500 }, () => ({})) };
    return textOf([['v1', JSON.stringify({ type: 'object', properties: { list } })]]);
  }),
  json('definition: within the bounds, defaults with embedded resources', DEFINITION, () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: TEXT } };
    const labels = Object.fromEntries(Array.from({ length: 3 }, (_, index) => [`l${String(index)}`, 'v']));
    const metadata = { labels, creationTimestamp: null, unknown: 1 };
    const standard = { apiVersion: 'v1', kind: 'K', metadata };
    const properties = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`f${String(index)}`, { ...embedded, default: standard }]),
    );
    return textOf([['v1', JSON.stringify({ type: 'object', properties })]]);
  }),
  ...FOLDED.map(([name, pattern]) =>
    json(`definition: pattern, ${name}`, DEFINITION, () => {
      const properties = { p: { type: 'string', pattern: `${pattern}${String(Date.now())}` } };
      return textOf([['v1', JSON.stringify({ type: 'object', properties })]]);
    }),
  ),
];

/** Neither repeated nor random, so that all runs send the same bytes. */
function letter(index: number): string {
  return LETTERS.charAt((index * index + 7 * Math.floor(index / 13)) % LETTERS.length);
}

function json(name: string, path: string, text: () => string): WorstRequest {
  return post(name, path, [TYPE.json, text]);
}
