import type { ResourceRow } from '../../shared/api/resources';
import { RESOURCES } from '../../shared/api/resources';
import { apiVersionOf } from '../../shared/object/object';
import { GROUP, MEDIA_TYPE } from '../../shared/names';
import type { FieldType, MessageType } from '../../shared/schema/types';
import { messageType } from '../../shared/schema/types';
import type { CallOptions, InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { ALL_KINDS, collectionOf } from './stored-rows';

/**
 * Prototype pollution: the names that every object inherits, in every place where a client chooses a name. A lookup of one in a plain object
 * finds a function, and the request fails with 500 at best; see `shared/own-key-map.ts`. The user has all rights except escalation, so that the
 * escalation checks run too.
 */

const CONSTRUCTOR = 'constructor';
const PROTOTYPE = '__proto__';
const METHODS = ['toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
const WORDS = [CONSTRUCTOR, PROTOTYPE, ...METHODS];
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const MALLORY = { 'impersonate-user': 'mallory' };
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** Templates nested in templates are not different places. */
const DEPTH_MAX = 12;

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi(undefined, { ...ALL_KINDS, authorizationModes: ['RBAC'] });
  const rules = [
    { verbs: VERBS, apiGroups: ['*'], resources: ['*'] },
    { verbs: VERBS, nonResourceURLs: ['*'] },
  ];
  const subjects = [{ kind: 'User', apiGroup: GROUP.rbac, name: 'mallory' }];
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'most' };
  await make(`/apis/${GROUP.rbac}/v1/clusterroles`, { metadata: { name: 'most' }, rules });
  await make(`/apis/${GROUP.rbac}/v1/clusterrolebindings`, { metadata: { name: 'most' }, roleRef, subjects });
  await make(CONFIG_MAPS, { metadata: { name: 'x' }, data: { a: 'b' } });
});
afterAll(async () => {
  await api.close();
});
/** No request may change the prototype of all objects. */
afterEach(() => {
  expect([Object.prototype, Function.prototype, Array.prototype].map(ownNames)).toEqual(INHERITED);
});

const ownNames = (value: object): readonly string[] => Object.getOwnPropertyNames(value);
const INHERITED = [Object.prototype, Function.prototype, Array.prototype].map(ownNames);

async function make(path: string, body: object): Promise<void> {
  const { code, text } = await api.call('POST', path, { body });
  if (code !== 201) throw new Error(text);
}

type Request = readonly [method: string, url: string, options?: CallOptions];

/** The requests with a 5xx response or an unexpected error. */
async function failing(requests: Iterable<Request>): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [method, url, options = {}] of requests) {
    const headers = { ...MALLORY, ...options.headers };
    const what = `${method} ${url} ${JSON.stringify(options)}`;
    try {
      const { code, text } = await api.call(method, url, { ...options, headers });
      if (code >= 500) failed.push(`${what}: ${text}`);
    } catch (error) {
      failed.push(`${what}: ${String(error)}`);
    }
  }
  return failed;
}

/** A field that a client can set, by its path from the kind. */
interface Place {
  readonly row: ResourceRow;
  readonly path: readonly FieldType[];
}

const WORDLESS: ReadonlySet<FieldType['kind']> = new Set(['bool', 'int32', 'int64', 'double']);

/** Every field of every message once, in the first kind that has it. */
function places(): readonly Place[] {
  const seen = new Set<string>();
  const found: Place[] = [];
  const visit = (row: ResourceRow, type: MessageType, above: readonly FieldType[]): void => {
    for (const field of type.fields) {
      const name = `${type.name}.${field.name}`;
      if (seen.has(name) || above.length > DEPTH_MAX) continue;
      seen.add(name);
      const path = [...above, field];
      if (!WORDLESS.has(field.kind) || field.map) found.push({ row, path });
      if (field.kind === 'message' && field.message !== undefined) visit(row, field.message, path);
    }
  };
  for (const row of RESOURCES.filter(({ verbs }) => verbs.includes('create'))) {
    visit(row, messageType(row.schema), []);
  }
  return found;
}

type Json = Record<string, unknown>;

/** The object with the word at this place: as a value, as an element, and as a key. */
function withWord(object: Json, [field, ...deeper]: readonly FieldType[], word: string): Json {
  if (field === undefined) return object;
  const known = object[field.name];
  const own = Object.entries(object).filter(([name]) => name !== field.name);
  return Object.fromEntries([...own, [field.name, valueWithWord(known, { field, deeper, word })]]);
}

function valueWithWord(
  known: unknown,
  {
    field,
    deeper,
    word,
  }: { readonly field: FieldType; readonly deeper: readonly FieldType[]; readonly word: string },
): unknown {
  const element = (first: unknown): unknown => {
    if (field.kind !== 'message')
      return ['json', 'rawExtension'].includes(field.kind) ? keyed(word, word) : word;
    return deeper.length === 0 ? keyed(word, {}) : withWord(isObject(first) ? first : {}, deeper, word);
  };
  if (field.map) return keyed(word, element(undefined));
  if (field.list || field.kind === 'stringList')
    return [element(Array.isArray(known) ? known[0] : undefined)];
  return element(known);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object with an own property of this name, also for `__proto__`. */
function keyed(word: string, value: unknown): Json {
  return Object.fromEntries([[word, value]]);
}

function baseOf(row: ResourceRow): Json {
  if (row.verbs.includes('list')) return minimalObject(row, 'default');
  return { apiVersion: apiVersionOf(row), kind: row.kind, metadata: { name: 'x' }, spec: {} };
}

/** Every place gets the class, the prototype, and one of the methods. */
test.each([
  ['a class', [CONSTRUCTOR]],
  ['a prototype', [PROTOTYPE]],
  ['a method', METHODS],
])('the name of %s in any field of any kind causes no server error', async (_what, words) => {
  const all = places();
  expect(all.length).toBeGreaterThan(1_000);
  const requests = all.map(({ row, path }, index): Request => {
    const text = JSON.stringify(withWord(baseOf(row), path, words[index % words.length] ?? ''));
    return ['POST', `${collectionOf(row)}?dryRun=All`, { text }];
  });
  expect(await failing(requests)).toEqual([]);
});

const PARAMETERS = [
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'timeout',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'propagationPolicy',
  'gracePeriodSeconds',
  'orphanDependents',
  'pretty',
  'includeObject',
  'sendInitialEvents',
  'allowWatchBookmarks',
];

test.each(WORDS)('%s in any parameter causes no server error', async (word) => {
  const values = [word, `${word}=${word}`, `${word} in (${word})`, `!${word}`, `metadata.${word}=${word}`];
  const selected = ['labelSelector', 'fieldSelector'].flatMap((name) =>
    ['pods', 'events', 'secrets'].flatMap((resource) =>
      values.map((value): Request => ['GET', `/api/v1/${resource}?${name}=${encodeURIComponent(value)}`]),
    ),
  );
  const body = { metadata: { name: 'x' } };
  const given = [...PARAMETERS, word].flatMap((name): Request[] => [
    ['GET', `${CONFIG_MAPS}?${name}=${word}`],
    ['GET', `${CONFIG_MAPS}/x?${name}=${word}`],
    ['POST', `${CONFIG_MAPS}?dryRun=All&${name}=${word}`, { body }],
    ['PUT', `${CONFIG_MAPS}/x?dryRun=All&${name}=${word}`, { body }],
    ['PATCH', `${CONFIG_MAPS}/x?dryRun=All&${name}=${word}`, { body }],
    ['DELETE', `${CONFIG_MAPS}/x?dryRun=All&${name}=${word}`],
    ['DELETE', `${CONFIG_MAPS}?dryRun=All&${name}=${word}`],
  ]);
  expect(await failing([...selected, ...given])).toEqual([]);
});

test.each(WORDS)('%s in any header causes no server error', async (word) => {
  const accepted = [
    word,
    `application/${word}`,
    `${word}/${word}`,
    `application/json;as=${word};g=${word};v=${word}`,
    `application/json;as=Table;g=${GROUP.meta};v=${word}`,
    `application/json;${word}=${word}`,
  ];
  const sent: readonly Readonly<Record<string, string>>[] = [
    ...accepted.flatMap((value) => [{ accept: value }, { 'content-type': value }]),
    ...['accept-encoding', 'user-agent', 'authorization', 'connection', word].map((name) => ({
      [name]: word,
    })),
    { 'impersonate-user': word },
    { 'impersonate-user': 'mallory', 'impersonate-group': word },
    { 'impersonate-user': 'mallory', [`impersonate-extra-${word}`]: word },
  ];
  const body = { metadata: { name: 'x' } };
  const requests = sent.flatMap((headers): Request[] => [
    ['GET', CONFIG_MAPS, { headers }],
    ['POST', `${CONFIG_MAPS}?dryRun=All`, { headers, body }],
    ['PATCH', `${CONFIG_MAPS}/x?dryRun=All`, { headers, body }],
  ]);
  expect(await failing(requests)).toEqual([]);
});

test.each(WORDS)('%s in any part of a path causes no server error', async (word) => {
  const paths = [
    `/${word}`,
    `/api/${word}`,
    `/api/v1/${word}`,
    `/api/v1/namespaces/${word}`,
    `/api/v1/namespaces/${word}/${word}`,
    `/api/v1/namespaces/default/${word}`,
    `${CONFIG_MAPS}/${word}`,
    `${CONFIG_MAPS}/x/${word}`,
    `/api/v1/namespaces/default/pods/x/${word}`,
    `/api/v1/${word}/pods`,
    `/api/v1/watch/${word}`,
    `/apis/${word}`,
    `/apis/${word}/${word}`,
    `/apis/${word}/v1/${word}`,
    `/apis/apps/${word}`,
    `/apis/apps/${word}/deployments`,
    `/apis/apps/v1/namespaces/default/deployments/x/${word}`,
    ...['openapi', 'openapi/v2', 'openapi/v3', 'openapi/v3/apis', 'openapi/v3/apis/apps'].map(
      (head) => `/${head}/${word}`,
    ),
    ...['healthz', 'livez', 'readyz', 'metrics', 'debug', 'version', '.well-known'].map(
      (head) => `/${head}/${word}`,
    ),
  ];
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', word];
  const requests = paths.flatMap((path) =>
    methods.map((method): Request => [method, path, { body: { metadata: { name: 'y' } } }]),
  );
  expect(await failing(requests)).toEqual([]);
});

test.each(WORDS)('%s in any part of a patch causes no server error', async (word) => {
  const json = [
    [{ op: word, path: `/${word}`, value: word }],
    ...['add', 'remove', 'replace', 'test'].map((op) => [{ op, path: `/data/${word}`, value: word }]),
    ...['move', 'copy'].map((op) => [{ op, from: `/${word}`, path: `/data/${word}` }]),
    [{ op: 'add', path: `/${word}/${word}`, value: word }],
    [{ op: 'add', path: `/metadata/${word}/${word}`, value: word }],
  ];
  const merged = [
    keyed(word, word),
    { data: keyed(word, word) },
    { metadata: keyed(word, keyed(word, word)) },
    { $patch: word },
    { data: { $patch: word } },
    { $retainKeys: [word] },
    keyed(`$setElementOrder/${word}`, [word]),
    keyed(`$deleteFromPrimitiveList/${word}`, [word]),
  ];
  const of = (type: string, body: unknown): Request => [
    'PATCH',
    `${CONFIG_MAPS}/x?dryRun=All${type === MEDIA_TYPE.applyPatch ? '&fieldManager=m' : ''}`,
    { headers: { 'content-type': type }, text: JSON.stringify(body) },
  ];
  const requests = [
    ...json.map((patch) => of(MEDIA_TYPE.jsonPatch, patch)),
    ...[MEDIA_TYPE.mergePatch, MEDIA_TYPE.strategicMergePatch, MEDIA_TYPE.applyPatch].flatMap((type) =>
      merged.map((patch) => of(type, { apiVersion: 'v1', kind: 'ConfigMap', ...patch })),
    ),
  ];
  expect(await failing(requests)).toEqual([]);
});

test.each(WORDS)('no JSON patch reaches inherited properties through %s', async (word) => {
  const into = [
    'constructor/prototype',
    `constructor/prototype/${word}`,
    '__proto__',
    `${word}/prototype`,
    word,
  ];
  // The last operation makes the object invalid, so that the error message contains the result of the patch.
  const misfit = { op: 'add', path: '/data', value: [] };
  const patches = into.flatMap((place) => [
    [{ op: 'add', path: `/${place}/polluted/x`, value: 1 }, misfit],
    [
      ...holdersOf(place).map((path) => ({ op: 'add', path, value: {} })),
      { op: 'add', path: `/${place}/polluted`, value: {} },
      { op: 'add', path: `/${place}/polluted/x`, value: 1 },
      { op: 'copy', from: `/${place}/polluted/x`, path: `/${place}/polluted/y` },
      misfit,
    ],
  ]);
  const headers = { 'content-type': MEDIA_TYPE.jsonPatch };
  const requests = patches.map((patch): Request => [
    'PATCH',
    `${CONFIG_MAPS}/x?dryRun=All`,
    { headers, text: JSON.stringify(patch) },
  ]);
  expect(await failing(requests)).toEqual([]);
});

/** The JSON pointers to all parents of the place. */
function holdersOf(place: string): readonly string[] {
  const parts = place.split('/');
  return parts.map((_part, at) => `/${parts.slice(0, at + 1).join('/')}`);
}
