import { StatusError } from '../../shared/errors/status-error';
import { jsonListBody } from './json-list';
import { createJsonRepresentation } from './json-representation';
import { parseAccept, parseMediaType } from './media-type';
import { negotiateAnswer, negotiateBody } from './negotiation';
import { withResourceVersion } from './written';

const ENTRY = {
  key: 'default/a',
  namespace: 'default',
  name: 'a',
  revision: 7,
  bytes: Buffer.from('"metadata":{"resourceVersion":"7","name":"a"},"data":{"k":"v"}}'),
  labels: {},
  fields: {},
  uid: 'u',
};

describe('Accept', () => {
  test('elements come by quality, ties in the order of the header, and quality 0 is a refusal', () => {
    const types = parseAccept('a/x;q=0.5, b/y, c/z;q=0.9, d/w;q=0, e/v').map((range) => range.type);
    expect(types).toEqual(['b', 'e', 'c', 'a']);
  });

  test('parameters keep their values and quoted commas do not split', () => {
    const [range] = parseAccept('application/json;as=Table;v="v1,x";g=meta');
    expect(range?.parameters).toEqual(
      new Map([
        ['as', 'Table'],
        ['v', 'v1,x'],
        ['g', 'meta'],
      ]),
    );
  });

  test.each(['', 'json', 'a/b/c', '/'])('"%s" is no media type', (text) => {
    expect(parseMediaType(text)).toBeUndefined();
  });

  test.each([undefined, '', '*/*', 'application/*', 'application/json', 'text/html, */*;q=0.1'])(
    '%p gets JSON',
    (accept) => {
      expect(negotiateAnswer(accept)).toBe('application/json');
    },
  );

  test.each(['image/png', 'application/json;q=0'])('%p is not acceptable', (accept) => {
    expect(() => negotiateAnswer(accept)).toThrow(StatusError);
  });
});

describe('Content-Type', () => {
  test('parameters do not matter, another type is 415', () => {
    expect(negotiateBody('application/json; charset=utf-8', ['application/json'])).toBe('application/json');
    expect(() => negotiateBody('text/plain', ['application/json'])).toThrow(/accepted media types include/);
  });
});

describe('objects as JSON', () => {
  const json = createJsonRepresentation('ConfigMap', 'v1');

  test('a single object and a frame carry kind and apiVersion around the cached bytes', () => {
    const object = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7', name: 'a' },
      data: { k: 'v' },
    };
    expect(JSON.parse(json.object(ENTRY.bytes).toString())).toEqual(object);
    expect(JSON.parse(json.frame('ADDED', ENTRY).toString())).toEqual({ type: 'ADDED', object });
  });

  test('a bookmark has nothing but its version', () => {
    expect(JSON.parse(json.bookmark(9, false).toString())).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '9' } },
    });
  });

  test('the answer to a write gets its version spliced in', () => {
    const plain = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{}}');
    expect(JSON.parse(withResourceVersion(plain, 12).toString())).toEqual({
      ...JSON.parse(plain.toString()),
      metadata: { name: 'a', resourceVersion: '12' },
    });
    expect(JSON.parse(withResourceVersion(plain, 0).toString())).toEqual(JSON.parse(plain.toString()));
  });
});

describe('lists as JSON', () => {
  const head = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };

  test('an empty list has an empty list of items', () => {
    const body = jsonListBody(head, []);
    if (!Buffer.isBuffer(body)) throw new Error('expected a buffer');
    expect(JSON.parse(body.toString())).toEqual({ ...head, items: [] });
  });

  test('a long list comes in batches that join to one document', async () => {
    const items = Array.from({ length: 10_000 }, () => ENTRY.bytes);
    const body = jsonListBody(head, items);
    if (Buffer.isBuffer(body)) throw new Error('expected a stream');
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(300 * 1024);
    const parsed = JSON.parse(Buffer.concat(pieces).toString()) as { items: unknown[] };
    expect(parsed.items).toHaveLength(10_000);
    expect(parsed.items[9_999]).toEqual(JSON.parse(`{${ENTRY.bytes.toString()}`));
  });
});
