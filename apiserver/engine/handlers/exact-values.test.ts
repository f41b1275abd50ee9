import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import type { ReadonlyJson } from '../../../shared/object/json';
import { decodeJson, decodeObject } from '../../../shared/schema/decode';
import { decodeProtobuf } from '../../../shared/protobuf/decode';
import { encodeProtobuf } from '../../../shared/protobuf/encode';
import { messageType } from '../../../shared/schema/types';
import { patience } from '../../../shared/testing/eventually';
import { define, definitionBody, GIZMOS_PATH } from '../../testing/custom-resources/definitions';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { parseYaml } from '../encoding/yaml';

/** What a client sends is stored and served as the same value in every representation, for any bytes. Expectations are those of Go. */

const DEFAULT = '/api/v1/namespaces/default';
const JSON_BODY = { 'content-type': MEDIA_TYPE.json };
const TABLE = `application/json;as=Table;g=${GROUP.meta};v=v1`;

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi();
  await define(api, definitionBody());
});
afterAll(async () => {
  await api.close();
});

/** Returns one part of the stored object as each representation has it. */
async function representations(path: string, name: string, part: string): Promise<ReadonlyJson> {
  const get = async (url: string, accept: string): Promise<ReadonlyJson> => {
    const { text } = await api.call('GET', url, { headers: { accept } });
    return (accept === MEDIA_TYPE.yaml ? parseYaml : decodeJson)(Buffer.from(text)) as ReadonlyJson;
  };
  const object = await get(`${path}/${name}`, MEDIA_TYPE.json);
  const byName = `fieldSelector=metadata.name%3D${name}`;
  const list = (await get(`${path}?${byName}`, MEDIA_TYPE.json)) as { items: readonly ReadonlyJson[] };
  const table = (await get(`${path}/${name}?includeObject=Object`, TABLE)) as {
    rows: readonly { object: ReadonlyJson }[];
  };
  const stop = linkedAbort(patience());
  let watched: ReadonlyJson = {};
  for await (const event of api.watch(`${path}?watch=1&${byName}`, stop.signal)) {
    watched = event.object;
    break;
  }
  return {
    json: object[part],
    yaml: (await get(`${path}/${name}`, MEDIA_TYPE.yaml))[part],
    list: list.items[0]?.[part],
    table: table.rows[0]?.object[part],
    watch: watched[part],
  };
}

let made = 0;

async function expectEverywhere(
  { path, head, part }: { readonly path: string; readonly head: string; readonly part: string },
  body: Buffer,
  wanted: unknown,
): Promise<void> {
  made += 1;
  const name = `o${String(made)}`;
  const text = Buffer.concat([
    Buffer.from(`{${head}"metadata":{"name":"${name}"},"${part}":`),
    body,
    Buffer.from('}'),
  ]);
  const created = await api.call('POST', path, { text, headers: JSON_BODY });
  expect([created.code, created.code === 201 ? '' : created.text]).toEqual([201, '']);
  const same = { json: wanted, yaml: wanted, list: wanted, table: wanted };
  const { watch, ...found } = await representations(path, name, part);
  expect(found).toEqual(same);
  // The watch parses by JSON.parse, which is not exact.
  expect(watch).toEqual(
    JSON.parse(
      JSON.stringify(wanted, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)),
    ),
  );
}

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

test.each<[what: string, body: Buffer, data: object]>([
  [
    'a lone surrogate',
    bytes('{"a":"x\\ud800","b":"\\udc00\\ud83d\\ude00"}'),
    { a: 'x\ufffd', b: '\ufffd\u{1f600}' },
  ],
  [
    'bytes that are no UTF-8, one by one',
    bytes('{"a":"', [0xe2, 0x82], '","b":"', [0xff, 0xed, 0xa0, 0x80], '"}'),
    { a: '\ufffd\ufffd', b: '\ufffd'.repeat(4) },
  ],
  ['control characters', bytes('{"a":"\\u0000\\u0007\\u007f\\u0085\\ufeff"}'), { a: '\0\x07\x7f\x85\ufeff' }],
  [
    'line separators and escaped slashes',
    bytes('{"a":"\\u2028\\/\\u2029","b":"\u2028\u2029\\r\\n\\t"}'),
    { a: '\u2028/\u2029', b: '\u2028\u2029\r\n\t' },
  ],
  [
    'text that looks like other YAML',
    bytes('{"a":"1:30","b":"=","c":"<<","d":"_1","e":"0o17","f":"~","g":".5_0","h":"- a","i":" a "}'),
    { a: '1:30', b: '=', c: '<<', d: '_1', e: '0o17', f: '~', g: '.5_0', h: '- a', i: ' a ' },
  ],
  [
    'JSON in text',
    bytes('{"a":"{\\"b\\": 1.0, \\"c\\": \\"\\\\ud800\\"}"}'),
    { a: '{"b": 1.0, "c": "\\ud800"}' },
  ],
  ['a null entry', bytes('{"a":null}'), { a: '' }],
  ['a repeated key', bytes('{"a":"1","a":"2"}'), { a: '2' }],
])('text: %s', async (_what, body, data) => {
  const place = { path: `${DEFAULT}/configmaps`, head: '', part: 'data' };
  await expectEverywhere(place, body, data);
  const type = messageType('core/v1.ConfigMap');
  const read = decodeObject(type, decodeProtobuf(type, encodeProtobuf(type, { data }))).object;
  expect({ ...(read as { data: object }).data }).toEqual(data);
});

test('bytes that are no UTF-8 in a text of Protobuf are replaced one by one', () => {
  const type = messageType('core/v1.ConfigMap');
  const raw = encodeProtobuf(type, { data: { a: 'xy' } });
  raw.set([0xe2, 0x82], raw.indexOf('xy'));
  expect({ ...(decodeProtobuf(type, raw)['data'] as object) }).toEqual({ a: '\ufffd\ufffd' });
});

test.each<[body: string, value: unknown]>([
  ['[1.0,1e2,1E2,-0,-0.0,0.10]', [1, 100, 100, 0, 0, 0.1]],
  ['[9007199254740993,-9223372036854775808]', [9007199254740993n, -9223372036854775808n]],
  [
    '[9223372036854775808,123456789012345678901234567890,1e21,1e-7]',
    [9223372036854775808, 1.2345678901234568e29, 1e21, 1e-7],
  ],
  ['{"a":{"b":1},"a":{"c":2}}', { a: { c: 2 } }],
  ['{"__proto__":{"a":"\\ud800"},"b":null}', JSON.parse('{"__proto__":{"a":"\ufffd"},"b":null}')],
])('values of a custom resource: %s', async (body, value) => {
  const head = '"apiVersion":"example.com/v1","kind":"Gizmo",';
  await expectEverywhere({ path: GIZMOS_PATH, head, part: 'spec' }, Buffer.from(body), value);
});

test.each([
  ['1.0', '1'],
  ['0.125', '125m'],
  ['1.500', '1.500'],
  ['1e3', '1e3'],
  ['0.0000001', '1m'],
  ['123456789012345678901', '123456789012345678901'],
  ['"aG"', undefined],
])('a quantity is read from the text of a number: %s', async (given, wanted) => {
  const spec = `{"limits":[{"type":"Container","max":{"cpu":${given}}}]}`;
  const text = `{"metadata":{"name":"q${String((made += 1))}"},"spec":${spec}}`;
  const { code, json } = await api.call('POST', `${DEFAULT}/limitranges`, { text, headers: JSON_BODY });
  expect([code, json.spec?.limits[0].max.cpu]).toEqual([wanted === undefined ? 400 : 201, wanted]);
  const patched = await api.call('PATCH', `${DEFAULT}/limitranges/q${String(made)}`, {
    text: `{"spec":${spec}}`,
    headers: { 'content-type': MEDIA_TYPE.mergePatch },
  });
  expect([patched.code, patched.json.spec?.limits[0].max.cpu]).toEqual([
    wanted === undefined ? 404 : 200,
    wanted,
  ]);
});

test('integers beyond 2^53 are exact in messages', async () => {
  const big = '9007199254740993';
  const messages = async (path: string, text: string): Promise<string> =>
    (await api.call('POST', path, { text, headers: JSON_BODY })).text;
  const context = `{"runAsUser":${big},"fsGroup":-${big},"supplementalGroups":[${big}]}`;
  const token = `{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":${big}}}]}}`;
  const spec = `{"containers":[{"name":"c","image":"i"}],"activeDeadlineSeconds":${big},"securityContext":${context},"volumes":[${token}]}`;
  const pod = await messages(`${DEFAULT}/pods`, `{"metadata":{"name":"p"},"spec":${spec}}`);
  expect(pod.match(/\d{16}/gu)).toEqual(Array<string>(10).fill(big));
  const request = await messages(
    `${DEFAULT}/serviceaccounts/default/token`,
    `{"spec":{"expirationSeconds":-${big}}}`,
  );
  expect(request).toContain(`-${big}`);
  const revision = `/apis/${GROUP.apps}/v1/namespaces/default/controllerrevisions`;
  expect(
    await messages(revision, '{"metadata":{"name":"r"},"data":{},"revision":123456789012345678901}'),
  ).toContain('cannot unmarshal number 123456789012345678901 into field revision of type int64');
});

test.each([
  ['"aGk="', 'aGk='],
  ['"aG\\r\\nk=\\n"', 'aGk='],
  ['"aGl="', 'aGk='],
  ['[104,105]', 'aGk='],
  ['"_-8="', undefined],
  ['"aGk"', undefined],
  ['[104.0]', undefined],
])('bytes in base64: %s', async (given, wanted) => {
  const text = `{"metadata":{"name":"b${String((made += 1))}"},"data":{"k":${given}}}`;
  const { code, json } = await api.call('POST', `${DEFAULT}/secrets`, { text, headers: JSON_BODY });
  expect([code, json.data?.k]).toEqual([wanted === undefined ? 400 : 201, wanted]);
});
