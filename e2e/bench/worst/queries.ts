import type { WorstRequest } from './request';
import { filled, MANY, SPACE, TYPE, numbered } from './request';
import { STORED } from './stored';

/** Just below the limits of a URL and of all headers. */
const URL_BYTES = 32_000;
const HEADER_BYTES = 60_000;
/** Leaves space for the path and for escaped characters. */
const SELECTOR_BYTES = 31_000;
const GET = `${SPACE}/configmaps/small`;

function long(item: string | ((index: number) => string), between = ',', bytes = URL_BYTES): string {
  return filled({ item, between, bytes });
}

function selecting(text: string): string {
  return `${MANY}?labelSelector=${encodeSelector(text)}`;
}

/** Escapes only characters that a query cannot contain, so that more text fits. */
function encodeSelector(text: string): string {
  return text.replaceAll(' ', '+').replaceAll('=', '%3D').replaceAll('&', '%26');
}

const SELECTORS: readonly (readonly [name: string, text: string])[] = [
  ['keys that are not there', long(numbered('!a#'), ',', SELECTOR_BYTES)],
  ['one key that is not there', long('!a', ',', SELECTOR_BYTES)],
  ['one key that is there', long('l0', ',', SELECTOR_BYTES)],
  ['keys that are there', long(numbered('l#', 10), ',', SELECTOR_BYTES)],
  ['unequal values', long(numbered('l9!=#'), ',', SELECTOR_BYTES * 0.8)],
  ['one long set', `l0 in (${long(numbered('a#'), ',', SELECTOR_BYTES)})`],
  ['one long set that nothing is in', `l9 notin (${long(numbered('a#'), ',', SELECTOR_BYTES)})`],
  ['many sets', long(numbered('l# notin (a,b,c,d)', 10), ',', SELECTOR_BYTES)],
  ['many empty sets', long('l0 notin ()', ',', SELECTOR_BYTES)],
  ['parentheses', '('.repeat(SELECTOR_BYTES)],
  ['commas', ','.repeat(SELECTOR_BYTES)],
  ['negations', '!'.repeat(SELECTOR_BYTES)],
  ['one long key', 'a'.repeat(SELECTOR_BYTES)],
];

const FIELDS: readonly (readonly [name: string, text: string])[] = [
  ['unequal names', long(numbered('metadata.name!=#'), ',', SELECTOR_BYTES * 0.8)],
  ['unequal namespaces', long('metadata.namespace!=a', ',', SELECTOR_BYTES * 0.8)],
  ['unknown fields', long(numbered('a#=b'), ',', SELECTOR_BYTES * 0.8)],
  ['commas', ','.repeat(SELECTOR_BYTES * 0.8)],
  ['escapes', `metadata.name!=${'\\\\'.repeat(12_000)}`],
];

const ACCEPTS: readonly (readonly [name: string, text: string])[] = [
  ['clauses', long('a/b', ',', HEADER_BYTES)],
  ['clauses of JSON', long('application/json;q=0.1', ',', HEADER_BYTES)],
  ['tables', long('application/json;as=Table;g=a;v=v1', ',', HEADER_BYTES)],
  ['parameters', `application/json;${long('a=b', ';', HEADER_BYTES)}`],
  ['quoted parameters', `application/json;${long('a="\\\\"', ';', HEADER_BYTES)}`],
  ['commas', ','.repeat(HEADER_BYTES)],
  ['semicolons', ';'.repeat(HEADER_BYTES)],
  ['blanks', `a/b${' '.repeat(HEADER_BYTES)}`],
  ['stars', long('*/*;q=0', ',', HEADER_BYTES)],
  ['qualities', `application/json;q=0.${'1'.repeat(HEADER_BYTES)}`],
];

const HEADERS: readonly (readonly [name: string, header: string, text: string])[] = [
  ['Accept-Encoding', 'accept-encoding', long('gzip;q=0.1', ',', HEADER_BYTES)],
  ['If-None-Match', 'if-none-match', long('"a"', ',', HEADER_BYTES)],
  ['User-Agent', 'user-agent', 'a'.repeat(HEADER_BYTES)],
  ['X-Forwarded-For', 'x-forwarded-for', long('1.2.3.4', ',', HEADER_BYTES)],
  ['Cookie', 'cookie', long('a=b', ';', HEADER_BYTES)],
  ['Authorization', 'authorization', `Bearer ${'a'.repeat(HEADER_BYTES)}`],
  [
    'Authorization like a token of an account',
    'authorization',
    `Bearer eyJhbGciOiJSUzI1NiJ9.${'eyJ'.repeat(20_000)}.a`,
  ],
  ['Impersonate-User', 'impersonate-user', 'a'.repeat(HEADER_BYTES)],
  [
    'Sec-WebSocket-Protocol',
    'sec-websocket-protocol',
    long('base64url.bearer.authorization.k8s.io.YQ', ',', HEADER_BYTES),
  ],
];

const URLS: readonly (readonly [name: string, path: string])[] = [
  ['parameters', `${GET}?${long('a=b', '&')}`],
  ['different parameters', `${GET}?${long(numbered('a#'), '&')}`],
  ['empty parameters', `${GET}?${'&'.repeat(URL_BYTES)}`],
  ['escapes in parameters', `${GET}?a=${'%41'.repeat(10_000)}`],
  ['broken escapes in parameters', `${GET}?a=${'%'.repeat(URL_BYTES)}`],
  ['blanks in parameters', `${GET}?a=${'+'.repeat(URL_BYTES)}`],
  ['one option again and again', `${MANY}?limit=1&${long('pretty=1', '&')}`],
  ['options', `${MANY}?${long(numbered('limit=#'), '&')}`],
  ['long limit', `${MANY}?limit=${'1'.repeat(URL_BYTES)}`],
  ['long resourceVersion', `${MANY}?resourceVersion=${'1'.repeat(URL_BYTES)}`],
  ['long continue', `${MANY}?limit=1&continue=${'eyJ'.repeat(10_000)}`],
  ['long timeout', `${MANY}?limit=1&timeout=${'1h'.repeat(15_000)}`],
  ['empty segments', `/api/v1${'/'.repeat(URL_BYTES)}`],
  ['segments', `/api/v1${'/a'.repeat(URL_BYTES / 2)}`],
  ['dots', `/api/v1${'/..'.repeat(URL_BYTES / 3)}`],
  ['escapes in segments', `/api/v1/namespaces/${'%41'.repeat(10_000)}/pods`],
  ['one long segment', `/apis/${'a'.repeat(URL_BYTES)}`],
  ['one long name', `${SPACE}/pods/${'a'.repeat(URL_BYTES)}`],
  ['OpenAPI', '/openapi/v2'],
  ['discovery', '/apis'],
  ['metrics', '/metrics'],
];

/** Requests without a body. */
export const QUERIES: readonly WorstRequest[] = [
  ...SELECTORS.map(([name, text]) => ({
    name: `label selector: ${name}`,
    path: selecting(text),
  })),
  ...SELECTORS.slice(0, 7).map(([name, text]) => ({
    name: `label selector, as Table: ${name}`,
    path: selecting(text),
    headers: { accept: TYPE.table },
  })),
  ...SELECTORS.slice(0, 7).map(([name, text]) => ({
    name: `label selector, watch: ${name}`,
    path: `${selecting(text)}&watch=1&timeoutSeconds=1`,
  })),
  ...SELECTORS.slice(0, 1).map(([name, text]) => ({
    name: `label selector, deletion: ${name}`,
    method: 'DELETE',
    path: `${selecting(text)}&dryRun=All`,
  })),
  ...FIELDS.map(([name, text]) => ({
    name: `field selector: ${name}`,
    path: `${MANY}?fieldSelector=${encodeSelector(text)}`,
  })),
  ...ACCEPTS.map(([name, accept]) => ({ name: `Accept: ${name}`, path: GET, headers: { accept } })),
  ...ACCEPTS.slice(0, 1).map(([name, accept]) => ({
    name: `Accept of an error: ${name}`,
    path: '/no',
    headers: { accept },
  })),
  {
    name: 'Content-Type: parameters',
    method: 'POST',
    path: `${SPACE}/configmaps?dryRun=All`,
    headers: { 'content-type': `application/json;${long('a=b', ';', HEADER_BYTES)}` },
    body: () => Buffer.from('{"metadata":{"name":"w"}}'),
  },
  ...HEADERS.map(([name, header, text]) => ({
    name: `header: ${name}`,
    path: GET,
    headers: { [header]: text },
  })),
  {
    name: 'headers: 1,900',
    path: GET,
    headers: Object.fromEntries(Array.from({ length: 1_900 }, (_, index) => [`a${String(index)}`, 'b'])),
  },
  {
    name: 'headers: extras of an impersonated user',
    path: GET,
    headers: {
      'impersonate-user': 'a',
      ...Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [`impersonate-extra-a${String(index)}`, 'b']),
      ),
    },
  },
  ...URLS.map(([name, path]) => ({ name: `URL: ${name}`, path })),
];

const READS: readonly (readonly [name: string, path: string])[] = [
  ['60,000 keys', STORED.wide],
  ['one text', STORED.text],
  ['2,000 containers', STORED.pod],
  ['18,000 addresses', STORED.endpoints],
  ['40,000 finalizers', STORED.finalizers],
  ['5,000 rules', STORED.ingress],
  ['5,000 rules in an older version', STORED.ingress.replace('/v1/', '/v1beta1/')],
  ['5,000 metrics', STORED.autoscaler],
  ['5,000 metrics in an older version', STORED.autoscaler.replace('v2beta2', 'v1')],
  ['40,000 keys of a custom resource', STORED.custom],
  ['40,000 keys of a custom resource in another version', STORED.custom.replace('/v1/', '/v2/')],
];

const FORMS: readonly (readonly [name: string, accept: string])[] = [
  ['JSON', TYPE.json],
  ['YAML', TYPE.yaml],
  ['Protobuf', TYPE.protobuf],
  ['Table', TYPE.table],
  ['PartialObjectMetadata', TYPE.partial],
];

export const READ_REQUESTS: readonly WorstRequest[] = [
  ...READS.flatMap(([name, path]) =>
    FORMS.map(([form, accept]) => ({ name: `GET as ${form}: ${name}`, path, headers: { accept } })),
  ),
  ...READS.slice(0, 3).map(([name, path]) => ({ name: `GET, pretty: ${name}`, path: `${path}?pretty=true` })),
  ...FORMS.flatMap(([form, accept]) => [
    { name: `LIST as ${form}: large configmaps`, path: `${SPACE}/configmaps`, headers: { accept } },
    { name: `LIST as ${form}: 10,000 objects`, path: MANY, headers: { accept } },
    {
      name: `WATCH as ${form}: large configmaps`,
      path: `${SPACE}/configmaps?watch=1&timeoutSeconds=1`,
      headers: { accept },
    },
  ]),
  { name: 'LIST, pretty: 10,000 objects', path: `${MANY}?pretty=true` },
  { name: 'DELETE: 10,000 objects', method: 'DELETE', path: `${MANY}?dryRun=All` },
  ...deletions('DELETE of a collection', `${SPACE}/persistentvolumeclaims`),
  ...deletions('DELETE', `${SPACE}/persistentvolumeclaims/none`),
  ...READS.slice(0, 5).flatMap(([name, path]) =>
    FORMS.map(([form, accept]) => ({
      name: `small change, watched as ${form}: ${name}`,
      method: 'PATCH',
      path,
      headers: { 'content-type': TYPE.mergePatch },
      body: () => Buffer.from(JSON.stringify({ metadata: { labels: { changed: String(Date.now()) } } })),
      watched: { path: `${path.slice(0, path.lastIndexOf('/'))}?watch=1`, accept },
    })),
  ),
];

/** Options in a body replace those of the query, including `dryRun`; these requests address missing objects. */
function deletions(name: string, path: string): readonly WorstRequest[] {
  const bodies: readonly (readonly [name: string, type: string, text: () => string])[] = [
    ['unknown fields', TYPE.json, () => filled({ begin: '{', item: numbered('"u#":0'), end: '}' })],
    ['dryRun again and again', TYPE.json, () => filled({ begin: '{"dryRun":[', item: '"All"', end: ']}' })],
    ['YAML', TYPE.yaml, () => filled({ begin: 'a: [', item: '0', end: ']' })],
  ];
  return bodies.map(([what, type, text]) => ({
    name: `${name}, options: ${what}`,
    method: 'DELETE',
    path,
    headers: { 'content-type': type },
    body: () => Buffer.from(text()),
  }));
}
