import { assert, asyncProperty, constantFrom } from 'fast-check';
import { collectionOf, endpointOf } from '../../apiserver/testing/stored-rows';
import { minimalObject } from '../../apiserver/testing/minimal-objects';
import { editedObject } from './edited-object';
import type { RandomServer } from './testing/random-server';
import {
  edits,
  isKeptOnlyByCreation,
  RANDOM_ROWS,
  RUN_OPTIONS,
  RUNS,
  startRandomServer,
} from './testing/random-server';

/** Properties of random objects of all kinds that hold without a reference implementation. */
let server: RandomServer;
beforeAll(async () => {
  server = await startRandomServer();
});
afterAll(async () => {
  await server.api.close();
});

test('a created object reads back equal in all versions, and no request is a server error', async () => {
  const { api, call, remove } = server;
  let accepted = 0;
  await assert(
    asyncProperty(constantFrom(...RANDOM_ROWS), edits, async (row, changes) => {
      const sent = editedObject(minimalObject(row, 'default'), row.schema, changes);
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
        if (!row.verbs.includes('update') || isKeptOnlyByCreation(row.kind, read.json)) return;
        const again = await call('PUT', url, read.json);
        expect([again.code, again.json]).toEqual([200, read.json]);
      } finally {
        await remove(url);
      }
    }),
    RUN_OPTIONS,
  );
  process.stdout.write(`random objects accepted: ${String(accepted)} of ${String(RUNS)}\n`);
});
