import { LOOP_BOUNDS } from '../exchange/loop-bounds';
import { newExchange } from '../exchange/testing/new-exchange';
import { encoderOf } from '../http/encoding/encoder-of';
import type { InProcessApi } from '../testing/in-process-api';
import { startInProcessApi } from '../testing/in-process-api';
import type { EncodeElement } from './element-encoder';
import { elsewhereOf } from './element-encoder';

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

test('only what is beyond the bounds is made elsewhere', async () => {
  const encode: EncodeElement = async ({ resource, accept }) =>
    Promise.resolve(Buffer.from(`${resource} ${String(accept)}`));
  expect(asked(encode, { bytes: LARGE - 1 })).toBeUndefined();
  expect((await asked(encode))?.toString()).toBe('configmaps application/yaml');
});

test('what cannot be made there is made here for a client that waits, and for none that has left', async () => {
  const encode: EncodeElement = async () => Promise.reject(new Error('the thread is gone'));
  expect((await asked(encode))?.toString()).toContain('a: b');
  await expect(asked(encode, { hasLeft: true })).rejects.toThrow('the client has left');
});
