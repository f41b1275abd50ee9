import { parseRequestInfo } from '../request/request-info';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { createEstimate, LEAST_WORK, SEATS_MAX } from './work';

const MAPS = '/api/v1/namespaces/a/configmaps';
const OBJECTS = 40;
const BYTES = 100_000;

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi();
  await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'a' } } });
  const data = { text: 'x'.repeat(BYTES) };
  for (let at = 0; at < OBJECTS; at += 1) {
    await api.call('POST', MAPS, { body: { metadata: { name: `m-${String(at)}` }, data } });
  }
  // A consistent read: what was written is in the cache.
  expect((await api.call('GET', `${MAPS}?limit=1`)).code).toBe(200);
});

afterAll(async () => {
  await api.close();
});

function workOf(url: string, method = 'GET', headers = {}) {
  const { pathname, searchParams: query } = new URL(url, 'https://localhost');
  const { registry, cache } = api.plane;
  return createEstimate({ registry, cache })({
    info: parseRequestInfo(method, pathname, query),
    query,
    headers,
  });
}

test('a list is as wide as the bytes that it reads, and wider where they are not ready', () => {
  const ready = workOf(MAPS);
  expect(ready).toEqual({ seats: 4, sendMs: expect.closeTo(98, 0) as unknown });
  expect(workOf('/api/v1/configmaps')).toEqual(ready);
  expect(workOf(MAPS, 'GET', { accept: 'application/json;as=Table;v=v1;g=meta' }).seats).toBe(16);
  expect(workOf(`${MAPS}?labelSelector=a`).seats).toBe(16);
  expect(workOf(`${MAPS}?limit=1`)).toBe(LEAST_WORK);
  expect(workOf('/api/v1/namespaces/other/configmaps')).toBe(LEAST_WORK);
  expect(workOf('/api/v1/namespaces/a/unknown')).toBe(LEAST_WORK);
});

test('a watch is as wide as the list that it begins with', () => {
  expect(workOf(`${MAPS}?watch=1`)).toEqual(workOf(MAPS));
  expect(workOf(`${MAPS}?watch=1&resourceVersion=0`)).toEqual(workOf(MAPS));
  expect(workOf(`${MAPS}?watch=1&resourceVersion=7`)).toBe(LEAST_WORK);
});

test('a write is as wide as its body, and the deletion of a collection as its objects', () => {
  expect(workOf(`${MAPS}/m`, 'PUT', { 'content-length': '65536' })).toBe(LEAST_WORK);
  expect(workOf(`${MAPS}/m`, 'PUT', { 'content-length': '300000' }).seats).toBe(5);
  expect(workOf(MAPS, 'POST', { 'transfer-encoding': 'chunked' }).seats).toBe(4);
  expect(workOf(MAPS, 'POST', { 'content-length': '999999999' }).seats).toBe(SEATS_MAX);
  expect(workOf(MAPS, 'DELETE').seats).toBe(3);
});

test('reads of one object, and what is no resource, take one seat', () => {
  for (const url of [`${MAPS}/m-1`, '/livez', `${MAPS}?fieldSelector=metadata.name%3Dm-1`]) {
    expect(workOf(url)).toBe(LEAST_WORK);
  }
});
