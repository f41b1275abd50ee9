import { MEDIA_TYPE } from '../../shared/names';
import { computeAppliedSet, ShapeError } from '../../shared/fieldset/applied';
import type { ObjectShape } from '../../shared/fieldset/shape';
import { rootShape } from '../../shared/fieldset/shape';
import { define, definitionBody, GIZMOS_PATH } from './custom-resources/definitions';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { ALL_KINDS, endpointOf, STORED_ROWS } from './stored-rows';

/**
 * Upstream checks an applied configuration against the published schema before anything else: `ObjectToTyped`
 * of structured-merge-diff. The published schema is therefore the oracle here.
 */

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { ...ALL_KINDS, definitionsLive: true });
});
afterAll(async () => api.close());

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-patch-merge-key'?: string;
}

type Definitions = Readonly<Record<string, Schema>>;

const VALUES = { string: 'x', number: 1, fraction: 1.5, boolean: true, object: {}, array: [] } as const;
const EVERY = Object.keys(VALUES) as (keyof typeof VALUES)[];
const NUMBERS = ['number', 'fraction'] as const;

/** The values that fit a scalar of the published schema. */
function fitting({ type = '', format = '' }: Schema): readonly (keyof typeof VALUES)[] {
  if (type === 'boolean') return ['boolean'];
  if (type === 'integer' || type === 'number') return NUMBERS;
  return format === '' || format === 'byte' ? ['string'] : ['string', 'boolean', ...NUMBERS];
}

/** A place in a configuration: makes the configuration that has a value there. */
type Place = (value: unknown) => object;

/** Walks each definition once, from the kinds down. */
class Walk {
  readonly problems: string[] = [];
  checked = 0;
  readonly #definitions: Definitions;
  readonly #shape: ObjectShape;
  readonly #seen: Set<string>;
  readonly #keys = new Set<string>();

  constructor(definitions: Definitions, shape: ObjectShape, seen: Set<string>) {
    this.#definitions = definitions;
    this.#shape = shape;
    this.#seen = seen;
  }

  fields(schema: Schema, at: string, place: Place): void {
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      // The server sets these, and other rules check what a client sends.
      if (at === '' && ['kind', 'apiVersion', 'metadata'].includes(name)) continue;
      this.value(each, `${at}.${name}`, (value) => place({ [name]: value }));
    }
  }

  value(schema: Schema, at: string, place: Place): void {
    const resolved = this.#resolve(schema);
    const { type, properties, additionalProperties, items } = resolved;
    if (schema.$ref !== undefined && properties !== undefined) {
      if (this.#seen.has(schema.$ref)) return;
      this.#seen.add(schema.$ref);
    }
    if (properties !== undefined) this.fields(resolved, at, place);
    else if (additionalProperties !== undefined)
      this.value(additionalProperties, `${at}[k]`, (value) => place({ k: value }));
    else if (items !== undefined) this.#items(resolved, items, { at, place });
    else if (type !== undefined && type !== 'object') {
      // Upstream's converter knows this type by its name: the published schema calls it a string.
      const isQuantity = schema.$ref?.endsWith('.Quantity') === true;
      this.#scalar(isQuantity ? { type, format: 'quantity' } : resolved, at, place);
    }
  }

  #items(list: Schema, items: Schema, { at, place }: { readonly at: string; readonly place: Place }): void {
    const mergeKey = list['x-kubernetes-patch-merge-key'];
    const keys = list['x-kubernetes-list-map-keys'] ?? (mergeKey === undefined ? [] : [mergeKey]);
    const { properties = {} } = this.#resolve(items);
    const named = Object.fromEntries(
      keys.map((key) => [key, this.#resolve(properties[key] ?? {}).type === 'string' ? 'x' : 1]),
    );
    const isKeyed = keys.length > 0;
    for (const each of isKeyed ? keys.map((key) => `${at}[].${key}`) : [`${at}[]`]) this.#keys.add(each);
    this.value(items, `${at}[]`, (value) => place([isKeyed ? { ...named, ...(value as object) } : value]));
  }

  #scalar(schema: Schema, at: string, place: Place): void {
    const fits = fitting(schema);
    for (const name of EVERY) {
      this.checked += 1;
      if (this.#isAccepted(place(VALUES[name])) !== fits.includes(name)) {
        this.problems.push(`${at}: ${name} for ${schema.type ?? ''} ${schema.format ?? ''}`);
      }
    }
    // An item of a set and the key of an item cannot be null, every other scalar can.
    if (!this.#keys.has(at) && !this.#isAccepted(place(null))) this.problems.push(`${at}: null`);
  }

  #isAccepted(config: object): boolean {
    try {
      computeAppliedSet(this.#shape, config);
      return true;
    } catch (error) {
      if (error instanceof ShapeError) return false;
      throw error;
    }
  }

  #resolve(schema: Schema): Schema {
    const name = schema.$ref?.slice('#/definitions/'.length);
    return name === undefined ? schema : (this.#definitions[name] ?? {});
  }
}

test('each scalar of each kind accepts the values of its published type and no others', async () => {
  const { definitions } = (await api.call('GET', '/openapi/v2')).json as { definitions: Definitions };
  const seen = new Set<string>();
  const problems: string[] = [];
  let checked = 0;
  for (const row of STORED_ROWS) {
    const definition = Object.values(definitions).find((each) => isOfKind(each, row));
    if (definition === undefined) throw new Error(`no definition of ${row.schema}`);
    const walk = new Walk(definitions, rootShape(endpointOf(api, row.schema).type), seen);
    walk.fields(definition, '', (value) => value as object);
    problems.push(...walk.problems.map((each) => `${row.schema}${each}`));
    checked += walk.checked;
  }
  expect(problems).toEqual([]);
  expect(checked).toBeGreaterThan(4_000);
});

function isOfKind(definition: object, row: { group: string; version: string; kind: string }): boolean {
  const kinds = (definition as { 'x-kubernetes-group-version-kind'?: readonly object[] })[
    'x-kubernetes-group-version-kind'
  ];
  return (kinds ?? []).some((each) => {
    const { group, version, kind } = each as { group: string; version: string; kind: string };
    return group === row.group && version === row.version && kind === row.kind;
  });
}

async function refusal(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': MEDIA_TYPE.applyPatch };
  const { code, json } = await api.call('PATCH', `${url}?fieldManager=m&force=true`, { body, headers });
  return [code, json.message];
}

const CORE = '/api/v1/namespaces/default';

test.each<[what: string, url: string, config: object, problem: string]>([
  [
    'bytes as a list of numbers',
    `${CORE}/secrets/a`,
    { apiVersion: 'v1', kind: 'Secret', data: { k: [104, 105] } },
    '.data.k: expected string, got array',
  ],
  [
    'bytes as an empty list',
    `${CORE}/configmaps/a`,
    { apiVersion: 'v1', kind: 'ConfigMap', binaryData: { k: [] } },
    '.binaryData.k: expected string, got array',
  ],
])(
  'an applied configuration with %s is refused, and creates nothing',
  async (_what, url, config, problem) => {
    expect(await refusal(url, { ...config, metadata: { name: 'a' } })).toEqual([
      400,
      `failed to create typed patch object: ${problem}`,
    ]);
    expect((await api.call('GET', url)).code).toBe(404);
  },
);

test('a scalar of a custom resource must have the type of its schema, also where the request cannot change it', async () => {
  const type = (of: string): object => ({ type: of });
  const properties = {
    spec: {
      type: 'object',
      properties: { size: type('integer'), tags: { type: 'array', items: type('string') } },
    },
    status: { type: 'object', properties: { isReady: type('boolean') } },
  };
  const schema = { type: 'object', properties };
  await define(api, definitionBody({ versions: [{ name: 'v1', schema, subresources: { status: {} } }] }));
  const gizmo = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: 'a' } };
  expect(await refusal(`${GIZMOS_PATH}/a`, { ...gizmo, spec: { size: 1, tags: ['x'] } })).toEqual([
    201,
    undefined,
  ]);
  for (const [config, problem] of [
    [{ spec: { size: '1' } }, '.spec.size: expected numeric (int or float), got string'],
    [{ spec: { tags: [1] } }, '.spec.tags[0]: expected string, got number'],
    [
      { spec: { size: 1, tags: ['x'] }, status: { isReady: 1 } },
      '.status.isReady: expected boolean, got number',
    ],
  ] as const) {
    expect(await refusal(`${GIZMOS_PATH}/a`, { ...gizmo, ...config })).toEqual([
      400,
      `failed to create typed patch object: ${problem}`,
    ]);
  }
});
