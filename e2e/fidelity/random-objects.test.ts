import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { InProcessApi } from '../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../apiserver/testing/in-process-api';
import { ALL_KINDS, collectionOf, endpointOf, STORED_ROWS } from '../../apiserver/testing/stored-rows';
import { minimalObject } from '../../apiserver/testing/minimal-objects';
import type { Edit } from './edited-object';
import { editedObject } from './edited-object';

/**
 * Random objects of all kinds, held to what must be so without any reference. `ORCH_FIDELITY_RUNS` makes it longer; a failure names its seed
 * and path, which `ORCH_FIDELITY_SEED` and `ORCH_FIDELITY_PATH` replay.
 */
const RUNS = Number(process.env['ORCH_FIDELITY_RUNS'] ?? '300');
const { ORCH_FIDELITY_SEED: SEED, ORCH_FIDELITY_PATH: PATH } = process.env;
const REPLAY = {
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  ...(PATH === undefined ? {} : { path: PATH }),
};

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, ALL_KINDS);
});
afterAll(async () => {
  await api.close();
});

const edit: Arbitrary<Edit> = record({
  steps: array(nat(60), { minLength: 1, maxLength: 6 }),
  value: nat(60),
});
const rows = STORED_ROWS.filter(
  ({ resource }) => resource !== 'namespaces' && resource !== 'customresourcedefinitions',
);

interface Answered {
  readonly code: number;
  readonly json: { readonly metadata: { readonly name: string } & Record<string, unknown> };
}

async function call(method: string, url: string, body?: unknown): Promise<Answered> {
  const { code, json, text } = await api.call(method, url, body === undefined ? {} : { body });
  if (code >= 500)
    throw new Error(`${method} ${url} answered ${String(code)}: ${text}\n${JSON.stringify(body)}`);
  return { code, json: json as Answered['json'] };
}

async function removed(url: string): Promise<void> {
  await call('DELETE', `${url}?gracePeriodSeconds=0`);
  await call('PATCH', url, { metadata: { finalizers: null } });
}

test('what is created stays as it is, in all versions, and nothing ends in a server error', async () => {
  let accepted = 0;
  await assert(
    asyncProperty(constantFrom(...rows), array(edit, { maxLength: 4 }), async (row, edits) => {
      const sent = editedObject(minimalObject(row, 'default'), row.schema, edits);
      const collection = collectionOf(row);
      const dry = await call('POST', `${collection}?dryRun=All`, sent);
      const created = await call('POST', collection, sent);
      expect(created.code).toBe(dry.code);
      if (created.code !== 201) return;
      accepted += 1;
      const { name } = created.json.metadata;
      const url = `${collection}/${name}`;
      try {
        const read = await call('GET', url);
        expect(read.json).toEqual(created.json);
        for (const version of endpointOf(api, row.schema).versions.values()) {
          const shown = await call('GET', `${collectionOf(version.row)}/${name}`);
          expect(shown.json.metadata['uid']).toBe(created.json.metadata['uid']);
        }
        if (!row.verbs.includes('update')) return;
        const again = await call('PUT', url, read.json);
        expect([again.code, again.json]).toEqual([200, read.json]);
      } finally {
        await removed(url);
      }
    }),
    { numRuns: RUNS, ...REPLAY },
  );
  process.stdout.write(`random objects accepted: ${String(accepted)} of ${String(RUNS)}\n`);
});
