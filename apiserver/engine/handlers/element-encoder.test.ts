import { MEDIA_TYPE } from '../../../shared/names';
import { LOOP_BOUNDS } from '../request/loop-bounds';
import { parseRequestInfo } from '../request/request-info';
import { newExchange } from '../request/testing/new-exchange';
import { encoderOf } from '../encoding/encoder-of';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { EncodeElement } from './element-encoder';
import { answerResource } from './dispatch';
import { elsewhereOf, framesElsewhereOf } from './element-encoder';
import type { Entry, FrameWorker } from '../watch-cache/state/entry';

const LARGE = LOOP_BOUNDS.storedBytesMax + 1;
const YAML = { accept: 'application/yaml' };

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

/** What is made elsewhere of an object of so many bytes, for a client that has left or not. */
function asked(encode: EncodeElement, { bytes = LARGE, hasLeft = false } = {}): Promise<Buffer> | undefined {
  const exchange = newExchange({ headers: YAML, bounds: LOOP_BOUNDS });
  const endpoint = api.plane.registry().endpoint('', 'v1', 'configmaps');
  if (endpoint === undefined) throw new Error('configmaps are not served');
  const encoder = encoderOf(exchange, endpoint, 'list');
  const elsewhere = elsewhereOf(exchange, { endpoint, encoder }, encode);
  if (hasLeft) exchange.abort(new Error('the client has left'));
  const json = '"metadata":{"name":"a"},"data":{"a":"b"}}'.padEnd(bytes);
  return elsewhere?.({ bytes: Buffer.from(json) });
}

test('only elements beyond the bounds are offloaded', async () => {
  const encode: EncodeElement = async ({ resource, accept }) =>
    Promise.resolve(Buffer.from(`${resource} ${String(accept)}`));
  expect(asked(encode, { bytes: LARGE - 1 })).toBeUndefined();
  expect((await asked(encode))?.toString()).toBe('configmaps application/yaml');
});

test('a failed element is encoded here for a waiting client, and for none that has left', async () => {
  const encode: EncodeElement = async () => Promise.reject(new Error('the thread is gone'));
  expect((await asked(encode))?.toString()).toContain('a: b');
  await expect(asked(encode, { hasLeft: true })).rejects.toThrow('the client has left');
});

function frames(encode: EncodeElement, accept: string = MEDIA_TYPE.protobuf): FrameWorker | undefined {
  const exchange = newExchange({ headers: { accept }, bounds: LOOP_BOUNDS });
  const endpoint = api.plane.registry().endpoint('', 'v1', 'configmaps');
  if (endpoint === undefined) throw new Error('configmaps are not served');
  return framesElsewhereOf(exchange, { endpoint, encoder: encoderOf(exchange, endpoint, 'stream') }, encode);
}

function entryOf(bytes: number): Entry {
  const json = Buffer.from('"metadata":{"name":"a"},"data":{"a":"b"}}'.padEnd(bytes));
  return { key: 'a', namespace: '', name: 'a', revision: 1, bytes: json, labels: {}, fields: {}, uid: '' };
}

test('a large frame is offloaded once for all watchers of one representation, plain JSON is not', async () => {
  const made: string[] = [];
  const encode: EncodeElement = async ({ event, resource }) => {
    made.push(`${String(event)} ${resource}`);
    return Promise.resolve(Buffer.from('frame'));
  };
  const entry = entryOf(LARGE);
  const one = frames(encode)?.('MODIFIED', entry);
  const other = frames(encode)?.('MODIFIED', entry);
  expect([String(await one), String(await other)]).toEqual(['frame', 'frame']);
  expect(String(await frames(encode)?.('MODIFIED', entry))).toBe('frame');
  expect(made).toEqual(['MODIFIED configmaps']);
  expect(frames(encode)?.('MODIFIED', entryOf(LARGE - 1))).toBeUndefined();
  expect(frames(encode, 'application/json')).toBeUndefined();
});

test('a frame that cannot be offloaded is encoded here', async () => {
  const encode: EncodeElement = async () => Promise.reject(new Error('the thread is gone'));
  const frame = await frames(encode)?.('ADDED', entryOf(LARGE));
  expect(frame?.includes('ConfigMap')).toBe(true);
});

test('a watch has its large frames encoded in a worker', async () => {
  const data = { text: 'x'.repeat(LARGE) };
  await api.call('POST', '/api/v1/namespaces/default/configmaps', {
    body: { metadata: { name: 'large' }, data },
  });
  const made: string[] = [];
  const encodeElement: EncodeElement = async ({ event, resource }) => {
    made.push(`${String(event)} ${resource}`);
    return Promise.resolve(Buffer.from('frame'));
  };
  const path = '/api/v1/namespaces/default/configmaps';
  const query = new URLSearchParams('watch=1&fieldSelector=metadata.name%3Dlarge');
  const exchange = newExchange({
    headers: { accept: MEDIA_TYPE.protobuf },
    bounds: LOOP_BOUNDS,
    path,
    query,
    info: parseRequestInfo('GET', path, query),
  });
  const { body } = await answerResource({ ...api.verbs, encodeElement }, exchange);
  const pieces = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  expect(String((await pieces.next()).value)).toBe('frame');
  expect(made).toEqual(['ADDED configmaps']);
  await pieces.return?.();
});
