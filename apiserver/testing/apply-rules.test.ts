import { MEDIA_TYPE } from '../../shared/names';
import type { ManagedFieldsEntry } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import type { Endpoint } from '../engine/registry/resource';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';
import { minimalObject } from './minimal-objects';
import { endpointOf, STORED_ROWS } from './stored-rows';

/** Every row of the tables that supports apply, in every version. */
const ROWS = STORED_ROWS.filter(({ verbs }) => verbs.includes('patch'));

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi(undefined, {
    runtimeConfig: new Map([['api/all', true]]),
    definitionsLive: false,
  });
});
afterAll(async () => {
  await api.close();
});

/** One object in one version. */
class Applied {
  readonly endpoint: Endpoint;
  readonly #minimal: { readonly metadata: { readonly name: string } };
  readonly url: string;

  constructor(endpoint: Endpoint, minimal: { readonly metadata: { readonly name: string } }) {
    const { row, apiVersion } = endpoint;
    const place = row.namespaced ? '/namespaces/default' : '';
    this.endpoint = endpoint;
    this.#minimal = minimal;
    this.url = `${row.group === '' ? '/api' : '/apis'}/${apiVersion}${place}/${row.resource}/${minimal.metadata.name}`;
  }

  async get(): Promise<Reply> {
    return api.call('GET', this.url);
  }

  /** Applies the whole minimal object with this label, or (`label` undefined) without any. */
  async applyWhole(manager: string, label?: string): Promise<Reply> {
    const metadata = {
      ...this.#minimal.metadata,
      ...(label === undefined ? {} : { labels: { rule: label } }),
    };
    return this.#apply(manager, { ...this.#minimal, metadata }, '');
  }

  /** Applies the label only. */
  async applyLabel(manager: string, label: string | undefined, query = ''): Promise<Reply> {
    const { name } = this.#minimal.metadata;
    const metadata = { name, ...(label === undefined ? {} : { labels: { rule: label } }) };
    return this.#apply(manager, { metadata }, query);
  }

  async #apply(manager: string, body: object, query: string): Promise<Reply> {
    const { row, apiVersion } = this.endpoint;
    return api.call('PATCH', `${this.url}?fieldManager=${manager}${query}`, {
      body: { ...body, kind: row.kind, apiVersion },
      headers: { 'content-type': MEDIA_TYPE.applyPatch },
    });
  }

  async patch(manager: string, body: object): Promise<Reply> {
    return api.call('PATCH', `${this.url}?fieldManager=${manager}`, { body });
  }
}

function demand(reply: Reply, code: number): Reply {
  if (reply.code !== code) throw new Error(`${String(reply.code)} instead of ${String(code)}: ${reply.text}`);
  return reply;
}

function labelOf({ json }: Reply): unknown {
  return json.metadata.labels?.rule;
}

function entriesOf({ json }: Reply): readonly ManagedFieldsEntry[] {
  return json.metadata.managedFields ?? [];
}

/** The owners of the label, such as `Apply one`. */
function ownersOfLabel(reply: Reply): readonly string[] {
  return entriesOf(reply)
    .filter(({ fieldsV1 }) => {
      const metadata = (fieldsV1 as Record<string, Record<string, object>>)['f:metadata'];
      return 'f:rule' in (metadata?.['f:labels'] ?? {});
    })
    .map(({ operation = '', manager = '' }) => `${operation} ${manager}`);
}

describe.each(ROWS.map(({ schema }) => schema))('%s', (schema) => {
  let one: Applied;

  beforeAll(() => {
    const endpoint = endpointOf(api, schema);
    one = new Applied(endpoint, minimalObject(endpoint.row, 'default'));
  });

  afterAll(async () => {
    await api.call('PATCH', one.url, { body: { metadata: { finalizers: null } } });
    const { json } = await api.call('DELETE', `${one.url}?gracePeriodSeconds=0`);
    // A finalizer holds a definition until its objects are deleted.
    await api.call('PATCH', one.url, { body: { metadata: { finalizers: null } } });
    if (one.endpoint.row.resource !== 'namespaces') return;
    await api.call('PUT', `${one.url}/finalize`, { body: { ...json, spec: { finalizers: [] } } });
  });

  test('rules 1 and 2: apply creates and owns, requires a manager, and refuses managedFields', async () => {
    const created = demand(await one.applyWhole('one', 'a'), 201);
    const { apiVersion } = one.endpoint;
    expect(entriesOf(created)).toContainEqual(
      expect.objectContaining({ manager: 'one', operation: 'Apply', apiVersion, fieldsType: 'FieldsV1' }),
    );
    expect(ownersOfLabel(created)).toEqual(['Apply one']);
    expect((await one.applyLabel('', 'a')).json).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'fieldManager', reason: 'FieldValueRequired' }] },
    });
    const body = {
      kind: one.endpoint.row.kind,
      apiVersion,
      metadata: { name: 'minimal', managedFields: [{}] },
    };
    const headers = { 'content-type': MEDIA_TYPE.applyPatch };
    const refused = await api.call('PATCH', `${one.url}?fieldManager=one`, { body, headers });
    expect(refused.json).toMatchObject({ code: 400, message: 'metadata.managedFields must be nil' });
    demand(await one.applyWhole('one', 'a'), 200);
    expect((await one.get()).text).toBe(created.text);
  });

  test('rule 3: a value that another manager owns is a conflict for apply only', async () => {
    const before = await one.get();
    const refused = await one.applyLabel('two', 'b');
    expect(refused.json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "one"',
            field: '.metadata.labels.rule',
          },
        ],
      },
    });
    expect((await one.get()).text).toBe(before.text);
    const patched = demand(await one.patch('three', { metadata: { labels: { rule: 'c' } } }), 200);
    expect(ownersOfLabel(patched)).toEqual(['Update three']);
    const { json } = await one.applyWhole('one', 'a');
    expect(json.details.causes[0].message).toBe(`conflict with "three" using ${one.endpoint.apiVersion}`);
  });

  test('rule 4: force takes ownership, omission releases it, an equal value shares it', async () => {
    const forced = demand(await one.applyLabel('two', 'b', '&force=true'), 200);
    expect([labelOf(forced), ownersOfLabel(forced)]).toEqual(['b', ['Apply two']]);
    const givenUp = demand(await one.applyWhole('one'), 200);
    expect([labelOf(givenUp), ownersOfLabel(givenUp)]).toEqual(['b', ['Apply two']]);
    const shared = demand(await one.applyWhole('one', 'b'), 200);
    expect(ownersOfLabel(shared)).toEqual(expect.arrayContaining(['Apply one', 'Apply two']));
  });

  test('rule 5: a change by one owner of a shared value is a conflict with the others', async () => {
    const { json } = await one.applyLabel('two', 'x');
    expect(json.details.causes).toMatchObject([{ message: 'conflict with "one"' }]);
  });

  test('rule 6: an omitted field without another owner is removed', async () => {
    const stays = demand(await one.applyLabel('two', undefined), 200);
    expect([labelOf(stays), ownersOfLabel(stays)]).toEqual(['b', ['Apply one']]);
    const gone = demand(await one.applyWhole('one'), 200);
    expect([labelOf(gone), ownersOfLabel(gone)]).toEqual([undefined, []]);
  });

  test('rules 1 and 3: ownership in one version applies in all versions', async () => {
    demand(await one.applyWhole('one', 'a'), 200);
    const minimal = { metadata: { name: one.url.split('/').at(-1) ?? '' } };
    for (const version of one.endpoint.versions.values()) {
      // The owners of an Event below `/api` and below `/apis` are separate, as in v1.21.
      const isOfOtherHalf = (version.row.group === '') !== (one.endpoint.row.group === '');
      if (version === one.endpoint || isOfOtherHalf) continue;
      const other = new Applied(version, minimal);
      expect(entriesOf(await other.get())).toEqual(entriesOf(await one.get()));
      const refused = await other.applyLabel('four', 'v');
      expect(refused.json.details.causes).toMatchObject([
        { message: 'conflict with "one"', field: '.metadata.labels.rule' },
      ]);
      const forced = demand(await other.applyLabel('four', 'v', '&force=true'), 200);
      expect(ownersOfLabel(forced)).toEqual(['Apply four']);
      expect(entriesOf(forced)).toContainEqual(
        expect.objectContaining({ manager: 'four', apiVersion: version.apiVersion }),
      );
      expect(entriesOf(await one.get())).toEqual(entriesOf(forced));
      demand(await other.applyLabel('four', undefined), 200);
      demand(await one.applyWhole('one', 'a'), 200);
    }
    expect(ownersOfLabel(await one.get())).toEqual(['Apply one']);
  });

  test('a dry run returns the result and stores nothing', async () => {
    const before = await one.get();
    const dry = demand(await one.applyLabel('two', 'dry', '&force=true&dryRun=All'), 200);
    expect([labelOf(dry), ownersOfLabel(dry)]).toEqual(['dry', ['Apply two']]);
    expect((await one.get()).text).toBe(before.text);
  });

  test('rule 9: an empty list, or [{}], clears managedFields, and tracking stops until the next apply', async () => {
    expect(entriesOf(await one.get())).not.toEqual([]);
    const reset = demand(await one.patch('three', { metadata: { managedFields: [] } }), 200);
    expect(entriesOf(reset)).toEqual([]);
    const both = { metadata: { managedFields: [{}], annotations: { reset: 'yes' } } };
    expect(entriesOf(demand(await one.patch('three', both), 200))).toEqual([]);
    expect(ownersOfLabel(demand(await one.applyLabel('two', 'x', '&force=true'), 200))).toEqual([
      'Apply two',
    ]);
  });
});

test('every resource with patch is covered in all its versions', () => {
  expect(new Set(ROWS.map((row) => `${apiVersionOf(row)} ${row.resource}`)).size).toBe(ROWS.length);
  expect(ROWS.length).toBeGreaterThan(70);
});
