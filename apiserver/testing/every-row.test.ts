import { apiVersionOf } from '../../shared/object/object';
import type { Endpoint } from '../engine/registry/resource';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { ALL_KINDS, collectionOf, endpointOf, STORED_ROWS } from './stored-rows';

let api: InProcessApi;
let walked = 0;
let walkedSubresources = 0;

beforeAll(async () => {
  api = await startInProcessApi(undefined, ALL_KINDS);
});
afterAll(async () => {
  await api.close();
  process.stdout.write(
    `rows walked: ${String(walked)} of ${String(STORED_ROWS.length)}, with ${String(walkedSubresources)} subresources\n`,
  );
});

/** Sends a request and expects the status code; a failure shows the response. */
async function call(
  method: string,
  url: string,
  expected: number,
  body?: unknown,
): Promise<Record<string, unknown> & { metadata: Record<string, unknown> }> {
  const reply = await api.call(method, url, body === undefined ? {} : { body });
  if (reply.code !== expected)
    throw new Error(`${method} ${url} answered ${String(reply.code)}: ${reply.text}`);
  return reply.json as Record<string, unknown> & { metadata: Record<string, unknown> };
}

test.each(STORED_ROWS.map(({ schema }) => schema))(
  '%s can be created, read, watched, updated, patched, given a status and deleted',
  async (schema) => {
    const endpoint = endpointOf(api, schema);
    const { row } = endpoint;
    const sent = minimalObject(row, 'default');
    const url = `${collectionOf(row)}/${sent.metadata.name}`;
    const stop = new AbortController();
    const frames = api.watch(`${collectionOf(row)}?watch=1`, stop.signal);

    const created = await call('POST', collectionOf(row), 201, sent);
    expect(created).toMatchObject({ kind: row.kind, apiVersion: endpoint.apiVersion });
    expect(await call('GET', url, 200)).toEqual(created);
    const list = await call('GET', collectionOf(row), 200);
    expect(list).toMatchObject({ kind: row.listKind, apiVersion: endpoint.apiVersion });
    const { kind: _kind, apiVersion: _apiVersion, ...item } = created;
    expect(list['items']).toContainEqual(item);
    expect(await ownFrame(frames, sent.metadata.name)).toEqual({ type: 'ADDED', object: created });

    for (const version of endpoint.versions.values()) {
      const shown = await call('GET', `${collectionOf(version.row)}/${sent.metadata.name}`, 200);
      expect(shown).toMatchObject({
        kind: row.kind,
        apiVersion: version.apiVersion,
        metadata: { uid: created.metadata['uid'], resourceVersion: created.metadata['resourceVersion'] },
      });
    }

    // Writing the stored object again changes nothing.
    expect(await call('PUT', url, 200, created)).toEqual(created);

    const changed = { ...created, metadata: { ...created.metadata, labels: { walked: 'yes' } } };
    const updated = await call('PUT', url, 200, changed);
    expect(updated).toMatchObject({ metadata: { labels: { walked: 'yes' } } });
    expect(await ownFrame(frames, sent.metadata.name)).toEqual({ type: 'MODIFIED', object: updated });
    const patched = await call('PATCH', url, 200, { metadata: { annotations: { walked: 'yes' } } });
    expect(patched).toMatchObject({
      metadata: { annotations: { walked: 'yes' }, labels: { walked: 'yes' } },
    });
    const statusUrl = endpoint.subresources.has('status') ? `${url}/status` : url;
    await replaceWithoutVersion(row, url, patched);
    expect(await call('GET', statusUrl, 200)).toEqual(patched);
    expect(await call('PUT', statusUrl, 200, patched)).toMatchObject({ kind: row.kind });

    for (const subresource of endpoint.subresources.values()) {
      // Subresources that connect to another server have no object.
      const leadsOn = endpoint.specialSubresources?.[subresource.name]?.is === 'connection';
      if (leadsOn || !subresource.verbs.includes('get')) continue;
      const shown = await call('GET', `${url}/${subresource.name}`, 200);
      expect(shown).toMatchObject({ kind: subresource.kind, apiVersion: apiVersionOf(subresource) });
      await call('PUT', `${url}/${subresource.name}`, 200, shown);
      await replaceWithoutVersion(row, `${url}/${subresource.name}`, shown);
      walkedSubresources += 1;
    }

    await deleteWholly(endpoint, url);
    await call('GET', url, 404);
    stop.abort();
    walked += 1;
  },
);

/**
 * Replaces an object by its manifest without a resourceVersion, and by one with the version `0`. The refusals follow
 * AllowUnconditionalUpdate of the strategies of v1.21 and v1.36, which agree.
 */
async function replaceWithoutVersion(
  { resource }: Endpoint['row'],
  url: string,
  { metadata, ...object }: { readonly metadata: Readonly<Record<string, unknown>> },
): Promise<void> {
  const [expected, kept] = VERSIONED.has(resource)
    ? [422, { reason: 'Invalid' }]
    : [200, { ...object, metadata: { uid: metadata['uid'] } }];
  const { resourceVersion: _current, uid: _uid, creationTimestamp: _created, ...unversioned } = metadata;
  for (const meta of [unversioned, { ...unversioned, resourceVersion: '0' }]) {
    expect(await call('PUT', url, expected, { ...object, metadata: meta })).toMatchObject(kept);
  }
}

const VERSIONED: ReadonlySet<string> = new Set([
  'apiservices',
  'csidrivers',
  'csinodes',
  'csistoragecapacities',
  'customresourcedefinitions',
  'leases',
  'mutatingwebhookconfigurations',
  'poddisruptionbudgets',
  'runtimeclasses',
  'storageversions',
  'validatingwebhookconfigurations',
  'volumeattachments',
]);

/** The next frame for the object with this name. */
async function ownFrame(
  frames: AsyncGenerator<{ type: string; object: Record<string, unknown> }>,
  name: string,
): Promise<unknown> {
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true) throw new Error('the watch ended');
    if ((value.object['metadata'] as { name?: string }).name === name) return value;
  }
}

/** Deletes an object and removes its finalizers. */
async function deleteWholly(endpoint: Endpoint, url: string): Promise<void> {
  const { json } = { json: await call('DELETE', `${url}?gracePeriodSeconds=0`, 200) };
  if (json['kind'] === 'Status') return;
  const left = await api.call('GET', url);
  if (left.code === 404) return;
  if (endpoint.row.resource === 'namespaces') {
    await call('PUT', `${url}/finalize`, 200, { ...(left.json as object), spec: { finalizers: [] } });
    return;
  }
  await call('PATCH', url, 200, { metadata: { finalizers: null } });
}

test('every row is covered', () => {
  expect(walked).toBe(STORED_ROWS.length);
});
