import { MEDIA_TYPE } from '../../shared/names';
import type { StoredRecord } from '../engine/storage/backend';
import type { Entry } from '../engine/watch-cache/state/entry';
import { decodeEntry } from '../engine/watch-cache/state/entry-codec';
import { RecentObjects } from '../engine/watch-cache/recent-objects';
import { caughtUp } from '../engine/watch-cache/testing/fixtures';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { ALL_KINDS, collectionOf, endpointOf, STORED_ROWS } from './stored-rows';

let backend: FaultyMemoryBackend;
let api: InProcessApi;
const findParsed = jest.spyOn(RecentObjects.prototype, 'findParsed');

beforeAll(async () => {
  backend = new FaultyMemoryBackend();
  api = await startInProcessApi(backend, ALL_KINDS);
});
afterAll(async () => {
  await api.close();
});

test.each(STORED_ROWS.map(({ schema }) => schema))(
  'the cache entry after a write of a %s equals the decoded bytes',
  async (schema) => {
    const { row, stored } = endpointOf(api, schema);
    const collection = collectionOf(row);
    const body = minimalObject(row, 'default');
    const { name } = body.metadata;
    const labels = { 'example.com/a-label-that-is-long': 'with-a-value-that-is-long' };
    const sent = JSON.stringify({ ...body, metadata: { ...body.metadata, labels } });
    const type = { 'content-type': MEDIA_TYPE.yaml };
    expect((await api.call('POST', collection, { text: sent, headers: type })).code).toBe(201);

    const key = stored.namespaced ? `default/${name}` : name;
    const absolute = `${api.plane.store.prefix}/${stored.keyPrefix}${key}`;
    const { entry, record } = await settled(stored.keyPrefix, key, absolute);
    const lookups = findParsed.mock.calls.flatMap(([at], index) =>
      at === absolute ? [findParsed.mock.results[index]?.value as unknown] : [],
    );
    expect(lookups[0]).toMatchObject({ kind: row.kind, metadata: { name } });
    expect(lookups).not.toContain(undefined);
    const read = decodeEntry(stored, { key, plain: record.value, revision: record.revision });
    const { slab: _read, ...expected } = read;
    expect(entry).toMatchObject(expected);

    findParsed.mockClear();
    const url = `${collection}/${name}`;
    const letGo = {
      body: { metadata: { finalizers: null } },
      headers: { 'content-type': MEDIA_TYPE.mergePatch },
    };
    await api.call('PATCH', url, letGo);
    await api.call('DELETE', `${url}?gracePeriodSeconds=0`);
    // A finalizer holds a definition until its objects are deleted.
    await api.call('PATCH', url, letGo);
  },
);

/** The object in the cache and in the store at the same version, because controllers of the server write the status of some kinds at once. */
async function settled(
  keyPrefix: string,
  key: string,
  absolute: string,
): Promise<{ readonly entry: Entry; readonly record: StoredRecord }> {
  for (;;) {
    await caughtUp(api.plane.cache, backend);
    const { record } = await backend.get(absolute, new AbortController().signal);
    const entry = api.plane.cache.resource(keyPrefix).get(key);
    if (record !== undefined && entry?.revision === record.revision) return { entry, record };
  }
}
