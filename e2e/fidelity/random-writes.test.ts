import { assert, asyncProperty, constantFrom } from 'fast-check';
import { minimalObject } from '../../apiserver/testing/minimal-objects';
import { collectionOf } from '../../apiserver/testing/stored-rows';
import { MEDIA_TYPE } from '../../shared/names';
import type { ResourceRow } from '../../shared/api/resources';
import type { Edit } from './edited-object';
import { editedObject } from './edited-object';
import type { Answered, RandomServer } from './testing/random-server';
import {
  edits,
  isKeptOnlyByCreation,
  RANDOM_ROWS,
  RUN_OPTIONS,
  RUNS,
  startRandomServer,
} from './testing/random-server';

/** Properties of random changes that hold without a reference implementation. */
let server: RandomServer;
beforeAll(async () => {
  server = await startRandomServer();
});
afterAll(async () => {
  await server.api.close();
});

const writable = RANDOM_ROWS.filter(({ verbs }) => verbs.includes('update') && verbs.includes('patch'));

/** Creates the minimal object of a row with these changes; unless the server refuses it, calls `body` with its URL and content. */
async function withObject(
  row: ResourceRow,
  changes: readonly Edit[],
  body: (url: string, read: Answered) => Promise<void>,
): Promise<void> {
  const created = await server.call(
    'POST',
    collectionOf(row),
    editedObject(minimalObject(row, 'default'), row.schema, changes),
  );
  if (created.code !== 201) return;
  const url = `${collectionOf(row)}/${created.json.metadata.name}`;
  try {
    await body(url, await server.call('GET', url));
  } finally {
    await server.remove(url);
  }
}

test('a PUT returns the code of its dry run, reads back equal, and changes nothing when repeated', async () => {
  let accepted = 0;
  await assert(
    asyncProperty(constantFrom(...writable), edits, async (row, changes) => {
      await withObject(row, [], async (url, read) => {
        const { call } = server;
        const sent = editedObject(read.json, row.schema, changes);
        const dry = await call('PUT', `${url}?dryRun=All`, sent);
        const put = await call('PUT', url, sent);
        expect(put.code).toBe(dry.code);
        const kept = put.code === 200 ? put.json : read.json;
        expect((await call('GET', url)).json).toEqual(kept);
        if (put.code !== 200) return;
        accepted += 1;
        const again = await call('PUT', url, put.json);
        expect([again.code, again.json]).toEqual([200, put.json]);
      });
    }),
    RUN_OPTIONS,
  );
  process.stdout.write(`random replacements accepted: ${String(accepted)} of ${String(RUNS)}\n`);
});

test('applying an object as read changes only its owners, and nothing when repeated', async () => {
  await assert(
    asyncProperty(constantFrom(...writable), edits, async (row, changes) => {
      await withObject(row, changes, async (url, read) => {
        const sent = contentOf(read);
        const apply = `${url}?fieldManager=reader&force=true`;
        const applied = await server.call('PATCH', apply, sent, MEDIA_TYPE.applyPatch);
        if (isKeptOnlyByCreation(row.kind, read.json) || hasNoKeys(applied)) return;
        expect([applied.code, contentOf(applied)]).toEqual([200, contentOf(read)]);
        const again = await server.call('PATCH', apply, sent, MEDIA_TYPE.applyPatch);
        expect(again.json).toEqual(applied.json);
      });
    }),
    RUN_OPTIONS,
  );
});

/** The object without its version and its managed fields. */
function contentOf({ json }: Answered): unknown {
  const { managedFields: _, resourceVersion: __, ...metadata } = json.metadata;
  return { ...json, metadata };
}

/** As in v1.21, a create may omit the merge keys of a list, and an applied configuration may not. */
function hasNoKeys({ code, json }: Answered): boolean {
  return code === 400 && /omits key field|duplicate entries/u.test(String(json['message']));
}
