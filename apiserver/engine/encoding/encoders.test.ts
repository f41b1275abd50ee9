import { gunzipSync } from 'node:zlib';
import { resourceOf } from '../../../shared/api/resources';
import { ANNOTATION, GROUP, MEDIA_TYPE } from '../../../shared/names';
import { decodeProtobuf } from '../../../shared/protobuf/decode';
import { unwrapEnvelope } from '../../../shared/protobuf/envelope';
import { wireFields } from '../../../shared/protobuf/testing/plain-decoder';
import { decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { kindType, UNSTRUCTURED } from '../../../shared/schema/types';
import { defined } from '../../../shared/defined';
import { kindOf } from '../../kubernetes/kinds/kinds';
import { servedDefinitions } from '../../kubernetes/kinds/served';
import { createRegistry } from '../registry/registry';
import { DEFAULT_KIND_SETTINGS } from '../registry/strategy';
import type { Endpoint } from '../registry/resource';
import type { Entry } from '../watch-cache/state/entry';
import { decodeEntry } from '../watch-cache/state/entry-codec';
import { compressed } from './compression';
import { documentAnswer, errorAnswer } from './document';
import { ENCODED_OBJECTS, EncodedBudget, EncodedCache } from './encoded-cache';
import type { Showing } from './encoder-of';
import { encoderOf } from './encoder-of';
import type { ObjectEncoder } from './object-encoder';
import { bodyMediaType, parseBody } from './request-body';
import { rowsMade } from './table/table-shape';
import { parseYaml } from './yaml';

function endpointOf(resource: string): Endpoint {
  const row = resourceOf({ group: '', version: 'v1' }, resource);
  if (row === undefined) throw new Error(`no ${resource}`);
  const type = kindType(row.schema);
  const { table } = kindOf('', resource);
  const definition = {
    row,
    type,
    hub: { row, type },
    strategy: {},
    servedSubresources: [],
    ...defined({ table }),
  };
  const endpoint = createRegistry([definition], 1).endpoint('', 'v1', resource);
  if (endpoint === undefined) throw new Error(`${resource} is not served`);
  return endpoint;
}

const configMaps = endpointOf('configmaps');
const pods = endpointOf('pods');

function entryOf(endpoint: Endpoint, name: string, rest: object = {}): Entry {
  const { object } = decodeObject(endpoint.type, {
    kind: endpoint.row.kind,
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', creationTimestamp: '2021-04-08T16:31:21Z', labels: { l: name } },
    ...rest,
  });
  return decodeEntry(endpoint.stored, { key: `default/${name}`, plain: encodeObject(object), revision: 7 });
}

function encoder(
  accept: string,
  endpoint = configMaps,
  showing: Showing = 'object',
  search = '',
): ObjectEncoder {
  return encoderOf({ headers: { accept }, query: new URLSearchParams(search) }, endpoint, showing);
}

async function all(body: Buffer | AsyncIterable<Buffer>): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

// eslint-disable-next-line typescript/no-explicit-any
function json(bytes: Buffer): any {
  return JSON.parse(bytes.toString());
}

const OBJECT = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    resourceVersion: '7',
    name: 'a',
    namespace: 'default',
    creationTimestamp: '2021-04-08T16:31:21Z',
    labels: { l: 'a' },
  },
  data: { k: 'v' },
};
const a = entryOf(configMaps, 'a', { data: { k: 'v' } });
const META = { resourceVersion: '9' };
const as = (kind: string, version = 'v1'): string => `;as=${kind};g=${GROUP.meta};v=${version}`;

describe('JSON', () => {
  test('an object and a frame carry kind and apiVersion around the cached bytes, items of a list do not', async () => {
    expect(json(encoder(MEDIA_TYPE.json).object(a))).toEqual(OBJECT);
    expect(json(encoder(MEDIA_TYPE.json).frame('ADDED', a))).toEqual({ type: 'ADDED', object: OBJECT });
    const { kind: _kind, apiVersion: _apiVersion, ...item } = OBJECT;
    expect(json(await all(await encoder(MEDIA_TYPE.json, configMaps, 'list').list(META, [a, a])))).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: META,
      items: [item, item],
    });
  });

  test('a bookmark has nothing but its version, and the end of initial events when it is one', () => {
    expect(json(encoder(MEDIA_TYPE.json, configMaps, 'stream').bookmark(9, false))).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: META },
    });
  });

  test('an empty list has an empty list of items', async () => {
    const body = await encoder(MEDIA_TYPE.json, configMaps, 'list').list(META, []);
    expect(json(await all(body)).items).toEqual([]);
  });

  test('a long list comes in batches that join to one document', async () => {
    const entries = Array.from({ length: 10_000 }, () => a);
    const body = await encoder(MEDIA_TYPE.json, configMaps, 'list').list(META, entries);
    if (Buffer.isBuffer(body)) throw new Error('expected a stream');
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(Buffer.from(piece));
    expect(pieces.length).toBeGreaterThan(2);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(300 * 1024);
    const parsed = json(Buffer.concat(pieces));
    expect(parsed.items).toHaveLength(10_000);
    expect(parsed.items[9_999].data).toEqual({ k: 'v' });
  });

  test('indented, a long list is the same document', async () => {
    const entries = Array.from({ length: 3_000 }, () => a);
    const plain = await all(await encoder(MEDIA_TYPE.json, configMaps, 'list').list(META, entries));
    const pretty = await all(
      await encoder(MEDIA_TYPE.json, configMaps, 'list', 'pretty=true').list(META, entries),
    );
    expect(pretty.toString()).toBe(`${JSON.stringify(json(plain), null, 2)}\n`);
  });
});

describe('YAML', () => {
  test('objects and lists say the same as in JSON', async () => {
    expect(parseYaml(encoder(MEDIA_TYPE.yaml).object(a))).toEqual(OBJECT);
    for (const sources of [[], [a], Array.from({ length: 2_000 }, () => a)]) {
      const yaml = await all(await encoder(MEDIA_TYPE.yaml, configMaps, 'list').list(META, sources));
      const same = await all(await encoder(MEDIA_TYPE.json, configMaps, 'list').list(META, sources));
      expect(parseYaml(yaml)).toEqual(json(same));
    }
  });

  test('a Table can be had in YAML', async () => {
    const yaml = await all(await encoder(MEDIA_TYPE.yaml + as('Table'), configMaps, 'list').list(META, [a]));
    expect(parseYaml(yaml)).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 1, expect.any(String)] }] });
  });
});

describe('Protobuf', () => {
  const read = (bytes: Buffer, message: string): unknown => {
    const { kind, apiVersion, raw } = unwrapEnvelope(bytes);
    return JSON.parse(JSON.stringify({ kind, apiVersion, ...decodeProtobuf(kindType(message), raw) }));
  };

  test('an object says the same as in JSON', () => {
    expect(read(encoder(MEDIA_TYPE.protobuf).object(a), 'core/v1.ConfigMap')).toMatchObject(OBJECT);
  });

  test('a list is one document, and the second one encodes nothing', async () => {
    const entries = Array.from({ length: 4_000 }, (_, index) =>
      entryOf(configMaps, `p${index}`, { data: { k: 'v' } }),
    );
    const list = encoder(MEDIA_TYPE.protobuf, configMaps, 'list');
    const first = await all(await list.list({ resourceVersion: '9', remainingItemCount: 2 }, entries));
    const { made } = ENCODED_OBJECTS;
    expect(await all(await list.list({ resourceVersion: '9', remainingItemCount: 2 }, entries))).toEqual(
      first,
    );
    expect(ENCODED_OBJECTS.made).toBe(made);
    const parsed = read(first, 'core/v1.ConfigMapList') as {
      metadata: object;
      items: { metadata: object }[];
    };
    expect(parsed.metadata).toEqual({
      selfLink: '',
      resourceVersion: '9',
      continue: '',
      remainingItemCount: 2,
    });
    expect(parsed.items).toHaveLength(4_000);
    expect(parsed.items[3_999]?.metadata).toMatchObject({ name: 'p3999' });
  });

  test('a frame is a length and a WatchEvent whose object is a whole document', () => {
    const stream = encoder(`${MEDIA_TYPE.protobuf};stream=watch`, configMaps, 'stream');
    expect(stream.streamContentType).toBe(`${MEDIA_TYPE.protobuf};stream=watch`);
    const inside = (frame: Buffer): [string, Buffer] => {
      expect(frame.readUInt32BE()).toBe(frame.length - 4);
      const event = wireFields(frame.subarray(4));
      return [String(event.get(1)?.[0]), wireFields(event.get(2)?.[0] as Buffer).get(1)?.[0] as Buffer];
    };
    const [type, object] = inside(stream.frame('DELETED', a));
    expect(type).toBe('DELETED');
    expect(read(object, 'core/v1.ConfigMap')).toMatchObject(OBJECT);
    const [bookmark, marked] = inside(stream.bookmark(9, false));
    expect(bookmark).toBe('BOOKMARK');
    expect(read(marked, 'core/v1.ConfigMap')).toMatchObject({ kind: 'ConfigMap', metadata: META });
    const [error, status] = inside(
      stream.error({ kind: 'Status', apiVersion: 'v1', reason: 'Expired', code: 410 }),
    );
    expect(error).toBe('ERROR');
    expect(read(status, 'meta/v1.Status')).toMatchObject({ kind: 'Status', reason: 'Expired', code: 410 });
  });

  test('metadata alone can be had, of objects and of lists of both versions', async () => {
    const one = encoder(MEDIA_TYPE.protobuf + as('PartialObjectMetadata')).object(a);
    const { metadata } = OBJECT;
    expect(read(one, 'meta/v1.PartialObjectMetadata')).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata,
    });
    for (const version of ['v1', 'v1beta1']) {
      const accept = MEDIA_TYPE.protobuf + as('PartialObjectMetadataList', version);
      const list = await all(await encoder(accept, configMaps, 'list').list(META, [a]));
      expect(read(list, `meta/${version}.PartialObjectMetadataList`)).toMatchObject({
        apiVersion: `${GROUP.meta}/${version}`,
        metadata: META,
        items: [{ metadata }],
      });
    }
  });

  test('it is not offered for objects without a schema, except of their metadata', () => {
    const custom: Endpoint = { ...configMaps, type: UNSTRUCTURED };
    expect(() => encoder(MEDIA_TYPE.protobuf, custom)).toThrow('only the following media types are accepted');
    expect(encoder(MEDIA_TYPE.protobuf + as('PartialObjectMetadata'), custom).contentType).toBe(
      MEDIA_TYPE.protobuf,
    );
  });
});

describe('Table', () => {
  const pod = entryOf(pods, 'p', {
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' },
    status: { phase: 'Running' },
  });

  test('rows carry cells and the metadata; columns are those of the kind', async () => {
    const table = json(
      await all(await encoder(`application/json${as('Table')}`, pods, 'list').list(META, [pod])),
    );
    expect(table).toMatchObject({ kind: 'Table', apiVersion: `${GROUP.meta}/v1`, metadata: META });
    const columns = table.columnDefinitions as { name: string }[];
    expect(columns.slice(0, 2)).toMatchObject([
      { name: 'Name', type: 'string', format: 'name', priority: 0 },
      { name: 'Ready', type: 'string', format: '', priority: 0 },
    ]);
    expect(table.rows).toHaveLength(1);
    expect(table.rows[0].cells).toHaveLength(columns.length);
    expect(table.rows[0].cells.slice(0, 3)).toEqual(['p', '0/1', 'Running']);
    expect(table.rows[0].object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: `${GROUP.meta}/v1`,
      metadata: { name: 'p', labels: { l: 'p' } },
    });
    expect(table.rows[0].object.spec).toBeUndefined();
  });

  test('one object is a table of one row, with its version', () => {
    const table = json(encoder(`application/json${as('Table', 'v1beta1')}`, pods).object(pod));
    expect(table).toMatchObject({ apiVersion: `${GROUP.meta}/v1beta1`, metadata: { resourceVersion: '7' } });
    expect(table.rows).toHaveLength(1);
  });

  test('includeObject selects the object in a row, and other values are refused', () => {
    const row = (include: string): { object: unknown } =>
      json(
        encoder(`application/json${as('Table')}`, configMaps, 'object', `includeObject=${include}`).object(a),
      ).rows[0];
    expect(row('None').object).toBeNull();
    expect(row('Metadata').object).toMatchObject({ kind: 'PartialObjectMetadata' });
    expect(row('Object').object).toEqual(OBJECT);
    const other = encoder(`application/json${as('Table')}`, configMaps, 'object', 'includeObject=Other');
    expect(other.refusal?.message).toContain("must be 'Metadata', 'Object', 'None', or empty");
  });

  test.each([
    ['Metadata', 'PartialObjectMetadata'],
    ['None', 'PartialObjectMetadata'],
    ['Object', 'Pod'],
  ])(
    'the bookmark that ends initial events has them in the object of its row (includeObject=%s)',
    (include, kind) => {
      const accept = `application/json${as('Table')}`;
      const stream = encoder(accept, pods, 'stream', `includeObject=${include}`);
      const { object } = json(stream.bookmark(9, true));
      expect(object.metadata).toEqual({ resourceVersion: '9' });
      expect(object.rows).toHaveLength(1);
      const annotations = { [ANNOTATION.initialEventsEnd]: 'true' };
      expect(object.rows[0].object).toMatchObject({ kind, metadata: { resourceVersion: '9', annotations } });
      expect(json(stream.bookmark(9, false)).object.rows).toEqual([]);
    },
  );

  test('every kind has a row for that bookmark', () => {
    const settings = new Map([['api/all', true]]);
    const registry = createRegistry(servedDefinitions(settings, DEFAULT_KIND_SETTINGS), 1);
    const endpoints = registry.groups.flatMap(({ group, versions }) =>
      versions.flatMap((version) => registry.endpointsOf(group, version)),
    );
    const rows = endpoints.map(
      (endpoint) =>
        json(encoder(`application/json${as('Table')}`, endpoint, 'stream').bookmark(9, true)).object.rows,
    );
    expect(rows.filter((each) => each.length !== 1)).toEqual([]);
    expect(rows.length).toBeGreaterThan(60);
  });

  test('the second list makes no row again', async () => {
    const list = encoder(`application/json${as('Table')}`, pods, 'list');
    await list.list(META, [pod]);
    const made = rowsMade();
    await list.list(META, [pod]);
    expect(rowsMade()).toBe(made);
  });

  test('a reader of a stream gets the columns in the first frame only', async () => {
    const stream = encoder(`application/json${as('Table')}`, configMaps, 'stream');
    const frames = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.concat([stream.frame('ADDED', a), stream.frame('MODIFIED', a)]);
      yield Promise.resolve(stream.frame('DELETED', a));
    };
    const lines = (await all(stream.stream(frames()))).toString().trimEnd().split('\n');
    const columns = lines.map(
      (line) => (JSON.parse(line) as { object: { columnDefinitions: unknown } }).object.columnDefinitions,
    );
    expect(columns).toEqual([expect.arrayContaining([]), null, null]);
  });
});

describe('metadata alone', () => {
  test('objects and items carry their kind; a list is no object and an object no list', async () => {
    const partial = json(encoder(`application/json${as('PartialObjectMetadata')}`).object(a));
    expect(partial).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: `${GROUP.meta}/v1`,
      metadata: OBJECT.metadata,
    });
    const accept = `application/json${as('PartialObjectMetadataList')}`;
    const list = json(await all(await encoder(accept, configMaps, 'list').list(META, [a])));
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', metadata: META, items: [partial] });
    expect(encoder(accept).refusal?.message).toMatch(/is not a list \(\*core\.ConfigMap\)$/);
    const ofList = encoder(`application/json${as('PartialObjectMetadata')}`, configMaps, 'list');
    expect(ofList.refusal?.message).toMatch(/is a list \(\*core\.ConfigMapList\)$/);
  });
});

describe('streams', () => {
  test('have no YAML, and the error lists the formats', () => {
    expect(encoder('application/yaml', configMaps, 'stream').refusal?.message).toBe(
      `only the following media types are accepted: application/json;stream=watch, ${MEDIA_TYPE.protobuf};stream=watch`,
    );
  });

  test('of lists of metadata end with the first change, since no change is a list', async () => {
    const stream = encoder(`application/json${as('PartialObjectMetadataList')}`, configMaps, 'stream');
    expect(stream.refusal).toBeUndefined();
    const frames = async function* (): AsyncGenerator<Buffer> {
      yield Promise.resolve(stream.frame('ADDED', a));
      throw new Error('no more pieces must be requested');
    };
    expect((await all(stream.stream(frames()))).toString()).toBe('');
  });
});

describe('documents', () => {
  const STATUS = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, message: 'none' };
  const asking = (accept: string): { headers: { accept: string }; query: URLSearchParams } => ({
    headers: { accept },
    query: new URLSearchParams(),
  });

  test('an error is in the negotiated format, and in JSON if none is acceptable', async () => {
    const protobuf = errorAnswer(asking(MEDIA_TYPE.protobuf), 404, STATUS);
    expect(unwrapEnvelope(await all(protobuf.body))).toMatchObject({ kind: 'Status', apiVersion: 'v1' });
    expect(parseYaml(await all(errorAnswer(asking(MEDIA_TYPE.yaml), 404, STATUS).body))).toEqual(STATUS);
    const other = errorAnswer(asking('image/png'), 404, STATUS);
    expect(other).toMatchObject({ code: 404, headers: { 'Content-Type': MEDIA_TYPE.json } });
    expect(json(await all(other.body))).toEqual(STATUS);
  });

  test('kinds of meta/v1 have a Protobuf form in every group', async () => {
    const document = {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'v1',
      resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get'] }],
    };
    const answer = await documentAnswer(asking(MEDIA_TYPE.protobuf), 200, document);
    const { raw } = unwrapEnvelope(await all(answer.body));
    expect(decodeProtobuf(kindType('meta/v1.APIResourceList'), raw)).toMatchObject({
      groupVersion: 'v1',
      resources: [{ name: 'pods', verbs: ['get'] }],
    });
  });
});

describe('compression', () => {
  const large = Buffer.from('x'.repeat(200_000));
  const headers = { 'accept-encoding': 'br, gzip' };
  const answer = { code: 200, headers: {}, body: large };

  test('large bodies are compressed if the client accepts gzip, buffered or streamed', async () => {
    const one = await compressed({ headers }, answer);
    expect(one.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
    expect(gunzipSync(await all(one.body))).toEqual(large);
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (let index = 0; index < 10; index += 1) yield Promise.resolve(large);
    };
    const many = await compressed({ headers }, { ...answer, body: pieces() });
    expect(gunzipSync(await all(many.body)).length).toBe(2_000_000);
  });

  test('small bodies and those of other clients are left alone', async () => {
    const small = { ...answer, body: Buffer.from('x') };
    expect(await compressed({ headers }, small)).toBe(small);
    expect(await compressed({ headers: {} }, answer)).toBe(answer);
    expect(await compressed({ headers: { 'accept-encoding': 'gzip;q=0' } }, answer)).toBe(answer);
  });

  test('a reader that leaves closes the source, and an error of the source reaches the reader', async () => {
    let closed = false;
    const endless = async function* (): AsyncGenerator<Buffer> {
      try {
        for (;;) yield Promise.resolve(large);
      } finally {
        closed = true;
      }
    };
    const { body } = await compressed({ headers }, { ...answer, body: endless() });
    for await (const piece of body as AsyncIterable<Buffer>) if (piece.length > 0) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(true);
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield Promise.resolve(large);
      throw new Error('lost');
    };
    const failed = await compressed({ headers }, { ...answer, body: failing() });
    await expect(all(failed.body)).rejects.toThrow('lost');
  });
});

describe('bodies', () => {
  const expected = { kind: 'ConfigMap', apiVersion: 'v1', type: configMaps.type };

  test('the same object is read from JSON, YAML and Protobuf', () => {
    const protobuf = encoder(MEDIA_TYPE.protobuf).object(a);
    const read = parseBody({ bytes: protobuf, mediaType: MEDIA_TYPE.protobuf }, expected).value;
    expect(read).toMatchObject(JSON.parse(JSON.stringify(OBJECT)) as object);
    expect(
      parseBody({ bytes: encoder(MEDIA_TYPE.yaml).object(a), mediaType: MEDIA_TYPE.yaml }, expected).value,
    ).toEqual(OBJECT);
    expect(
      parseBody({ bytes: encoder(MEDIA_TYPE.json).object(a), mediaType: MEDIA_TYPE.json }, expected).value,
    ).toEqual(OBJECT);
  });

  test('another kind in the envelope is returned without its content', () => {
    const other = encoder(MEDIA_TYPE.protobuf, pods).object(entryOf(pods, 'p'));
    expect(parseBody({ bytes: other, mediaType: MEDIA_TYPE.protobuf }, expected).value).toEqual({
      kind: 'Pod',
      apiVersion: 'v1',
    });
  });

  test('malformed bytes are a bad request in every format', () => {
    for (const mediaType of [MEDIA_TYPE.json, MEDIA_TYPE.yaml, MEDIA_TYPE.protobuf]) {
      expect(() => parseBody({ bytes: Buffer.from('{"a": [1'), mediaType }, expected)).toThrow(
        'the object provided is unrecognized',
      );
    }
  });

  test.each([
    ['', 'unexpected end of JSON input (<empty>)'],
    ['{"a": 1 "b"}', `invalid character '"' after object key:value pair ({"a": 1 "b"})`],
    [
      `{"a": "${'x'.repeat(30)}",}`,
      `invalid character '}' looking for beginning of object key string ({"a": "${'x'.repeat(23)} ...)`,
    ],
    ['a: 1', `invalid character 'a' looking for beginning of value (613a2031)`],
  ])('the error for %j has the problem and the beginning of the body', (text, problem) => {
    expect(() => parseBody({ bytes: Buffer.from(text), mediaType: MEDIA_TYPE.json }, expected)).toThrow(
      `the object provided is unrecognized (must be of type ${expected.kind}): couldn't get version/kind; json parse error: ${problem}`,
    );
  });

  test('Protobuf is not read for kinds without a schema', () => {
    expect(bodyMediaType(MEDIA_TYPE.protobuf)).toBe(MEDIA_TYPE.protobuf);
    const body = encoder(MEDIA_TYPE.protobuf).object(a);
    expect(() =>
      parseBody({ bytes: body, mediaType: MEDIA_TYPE.protobuf }, { ...expected, type: UNSTRUCTURED }),
    ).toThrow('the object provided is unrecognized');
  });
});

test('the cache stays within the budget: the older generation is dropped', () => {
  const cache = new EncodedCache<Buffer>(new EncodedBudget(1000), (bytes) => bytes.length);
  const entries = Array.from({ length: 12 }, (_, index) => ({ index }));
  for (const entry of entries) cache.get(entry, 'id', () => Buffer.alloc(100));
  expect(cache.made).toBe(12);
  cache.get(entries[11] ?? {}, 'id', () => Buffer.alloc(100));
  expect(cache.made).toBe(12);
  cache.get(entries[0] ?? {}, 'id', () => Buffer.alloc(100));
  expect(cache.made).toBe(13);
});
