import { StatusError } from '../../../shared/errors/status-error';
import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { parseAccept, parseMediaType } from './media-type';
import { refuseUnrouted } from './routing';
import type { Offer } from './negotiation';
import { DOCUMENT_OFFER, OPERATION_OFFER, negotiate, negotiateBody } from './negotiation';
import { prettyJson } from './pretty';
import { metadataEnd } from './source';
import { writtenSource } from './written';

const OBJECTS: Offer = { ...DOCUMENT_OFFER, shapes: true };
const STREAMS: Offer = { ...OBJECTS, stream: true };

function negotiated(accept: string | undefined, offer = OBJECTS, search = '', userAgent = 'go'): string {
  const headers = { 'user-agent': userAgent, ...(accept === undefined ? {} : { accept }) };
  const { format, shape, pretty } = negotiate({ headers, query: new URLSearchParams(search) }, offer);
  const name = shape === undefined ? format : `${format} ${shape.kind} ${shape.version}`;
  return pretty ? `pretty ${name}` : name;
}

describe('Accept', () => {
  test('elements are sorted by quality, then by the order of the header', () => {
    const header = 'a/x;q=0.5, b/y, c/z;q=0.9, d/w;q=0, e/v, f/u;q=x, g/t;q=-1, h/s;q=2';
    expect(
      parseAccept(header)
        .map((range) => range.type)
        .join(''),
    ).toBe('hbecadfg');
  });

  test.each([
    ['application/json;as="a"', '"a"'],
    ['application/json;as=first;as=second', 'second'],
    ['application/json; as = Table ;q=0.5', 'Table'],
    ['application/json;as=;as', undefined],
    ['application/json;as=a=b', undefined],
    ['application/json;AS=Table', undefined],
  ])('in %j the parameter is %j', (header, as) => {
    const [range, ...others] = parseAccept(header);
    expect([range?.parameters.get('as'), others]).toEqual([as, []]);
  });

  test('is read for a hundred elements and 8 KiB, and no further', () => {
    const many = 'a/b,'.repeat(99);
    expect(parseAccept(`${many}application/json`)).toHaveLength(100);
    expect(parseAccept(`${many}a/b,application/json`).map(({ subtype }) => subtype)).not.toContain('json');
    const long = `a/b;p=${'x'.repeat(8_000)}`;
    expect(parseAccept(`${long},application/json`)).toHaveLength(2);
    expect(parseAccept(`${long},c/d;p=${'x'.repeat(8_000)},application/json`)).toHaveLength(1);
    expect(parseAccept(`application/json;p=${'x'.repeat(9_000)}`)).toEqual([]);
    expect(parseMediaType(`application/json;p=${'x'.repeat(9_000)}`)).toBeUndefined();
  });

  test('elements that are malformed are left out, and the others count', () => {
    expect(parseAccept(', ,json,a/b/c,application/yaml;q=x,/').map(({ subtype }) => subtype)).toEqual([
      'yaml',
    ]);
  });

  test.each(['', 'json', 'a/b/c', '/', 'a/b;x', 'a/b;x=1;x=2', 'a/b;x="1', 'a/b;x=1 2', 'a b/c'])(
    '"%s" is no media type',
    (text) => {
      expect(parseMediaType(text)).toBeUndefined();
    },
  );

  test.each([
    ['A/B', []],
    ['a/b;', []],
    [
      'a/b; X="1\\"2" ;y=Z ; ',
      [
        ['x', '1"2'],
        ['y', 'Z'],
      ],
    ],
  ])('"%s" is a media type', (text, parameters) => {
    const read = parseMediaType(text);
    expect([read?.type, read?.subtype, [...(read?.parameters ?? [])]]).toEqual(['a', 'b', parameters]);
  });

  const table = `application/json;as=Table;g=${GROUP.meta};v=v1`;
  const { protobuf } = MEDIA_TYPE;

  test.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['application/*, application/yaml;q=0.5', 'json'],
    ['application/*', 'json'],
    ['*/*, application/yaml', 'yaml'],
    ['application/json;sv=v1', 'json'],
    ['application/json;sv=v2, application/yaml', 'yaml'],
    ['application/json;v=v1, application/yaml', 'yaml'],
    ['text/html, */*;q=0.1', 'json'],
    ['application/json;q=0.1,application/yaml;q=0.9', 'yaml'],
    [`${protobuf}, application/json`, 'protobuf'],
    [table, 'json Table v1'],
    [`${table}beta1, application/json`, 'json Table v1beta1'],
    [`${table}alpha1, application/json`, 'json'],
    [`application/yaml;as=Table;g=${GROUP.meta};v=v1`, 'yaml Table v1'],
    [`${protobuf};as=Table;g=${GROUP.meta};v=v1,application/json`, 'json'],
    [`${protobuf};as=PartialObjectMetadata;g=${GROUP.meta};v=v1`, 'protobuf PartialObjectMetadata v1'],
    ['application/json;stream=watch', 'json'],
    ['application/json;pretty=1', 'pretty json'],
    ['application/json;q=0', 'json'],
    ['application/json;as=', 'json'],
    [`application/json;AS=Table`, 'json'],
  ])('%p gets %s', (accept, expected) => {
    expect(negotiated(accept)).toBe(expected);
  });

  test.each([
    'image/png',
    'nonsense',
    'Application/JSON',
    'application/yaml;stream=watch',
    'application/json;stream=other',
    `application/json;as=Table;g=other;v=v1`,
    `application/json;as=Table;v=v1`,
    `application/json;as=Other;g=${GROUP.meta};v=v1`,
    `${protobuf};as=Table;g=${GROUP.meta};v=v1`,
  ])('%p is not acceptable, and the error lists the offered types', (accept) => {
    expect(() => negotiated(accept)).toThrow(StatusError);
    expect(() => negotiated(accept)).toThrow(/application\/json, application\/yaml, .*protobuf/);
    const metadataAlone = { ...OBJECTS, formats: ['json', 'yaml'] } as const;
    expect(() => negotiated(accept, metadataAlone)).toThrow(
      /application\/json, application\/yaml, .*protobuf/,
    );
  });

  test('a document that is no object has no Table, and a review neither', () => {
    expect(() => negotiated(table, DOCUMENT_OFFER)).toThrow(StatusError);
    expect(() => negotiated(table, OPERATION_OFFER)).toThrow(StatusError);
    expect(negotiated(`${protobuf};stream=watch`, STREAMS)).toBe('protobuf');
  });

  test('browsers and curl get indented JSON, and so does ?pretty, which has precedence', () => {
    expect(negotiated(undefined, OBJECTS, '', 'curl/8.0')).toBe('pretty json');
    expect(negotiated(undefined, OBJECTS, 'pretty=true')).toBe('pretty json');
    expect(negotiated(undefined, OBJECTS, 'pretty=false', 'Mozilla/5.0 (X11)')).toBe('json');
    expect(negotiated('application/yaml', OBJECTS, 'pretty=1')).toBe('yaml');
  });
});

describe('Content-Type', () => {
  test('parameters do not matter, another type is 415', () => {
    expect(negotiateBody('application/json; charset=utf-8', ['application/json'])).toBe('application/json');
    expect(() => negotiateBody('text/plain', ['application/json'])).toThrow(/accepted media types include/);
  });
});

describe('the answer to a write', () => {
  const plain = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{}}');

  test('gets its version spliced in', () => {
    expect(writtenSource({ plain, revision: 12 }).bytes.toString()).toBe(
      '"metadata":{"resourceVersion":"12","name":"a"},"data":{}}',
    );
    expect(writtenSource({ plain, revision: 0 }).bytes.toString()).toBe('"metadata":{"name":"a"},"data":{}}');
  });
});

test('the end of the metadata is found whatever its strings contain', () => {
  const metadata = '"metadata":{"a":"}\\"{","b":{"c":"\\\\"},"d":[{}]}';
  expect(metadataEnd({ bytes: Buffer.from(`${metadata},"spec":{"x":"}"}}`), transient: true })).toBe(
    metadata.length,
  );
});

test('indented JSON is the same JSON, wherever its bytes are cut', () => {
  const value = { a: [1, { b: 'x"{,:}\\', c: [] }, {}], d: { e: null, f: 1.5e300 }, g: [], h: 'ü' };
  expect(prettyJson(Buffer.from(JSON.stringify(value))).toString()).toBe(JSON.stringify(value, null, 2));
  expect(prettyJson(Buffer.from('{}\n')).toString()).toBe('{}\n');
});

test('the router reads the same part of an Accept header as the negotiation', () => {
  const route = (accept: string) => (): void => {
    refuseUnrouted({ headers: { accept } });
  };
  expect(route(`${'a/b,'.repeat(99)}application/json`)).not.toThrow();
  expect(route(`${'a/b,'.repeat(100)}application/json`)).toThrow('406');
  expect(route(`${','.repeat(60_000)}application/json`)).toThrow('406');
});
