import type { Answer } from '../../engine/request/exchange';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import {
  define,
  definitionBody,
  DEFINITIONS_PATH,
  gizmo,
  GIZMOS_PATH,
} from '../../testing/custom-resources/definitions';

const ELSEWHERE: Answer = { code: 299, headers: {}, body: Buffer.from('{}') };

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi(new FaultyMemoryBackend(), {
    large: { answer: async () => Promise.resolve(ELSEWHERE) },
  });
});
afterEach(async () => api.close());

const TEXT = { type: 'string' };

/** Few items are each compared with few alternatives; only the last alternative fits. */
const CHOSEN = {
  type: 'array',
  items: {
    type: 'object',
    properties: { a: TEXT },
    anyOf: [
      ...Array.from({ length: 300 }, (_, index) => ({ required: [`f${String(index)}`] })),
      { maxProperties: 1 },
    ],
  },
};

const schemaOf = (properties: object): { readonly [field: string]: unknown } => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});

async function defineWith(properties: object): Promise<void> {
  await define(api, definitionBody({ versions: [{ name: 'v1', schema: schemaOf(properties) }] }));
}

let created = 0;

async function codeOfCreating(spec: object): Promise<number> {
  created += 1;
  const reply = await api.call('POST', GIZMOS_PATH, { body: gizmo(`g${String(created)}`, { spec }) });
  return reply.code;
}

const items = (count: number): object[] => Array.from({ length: count }, () => ({}));

test('a small object with expensive validation is validated off the event loop', async () => {
  await defineWith({ chosen: CHOSEN });
  expect(await codeOfCreating({ chosen: items(10) })).toBe(201);
  expect(await codeOfCreating({ chosen: items(700) })).toBe(299);
});

test('a text that is slow to match is validated off the event loop', async () => {
  await defineWith({ text: { type: 'string', pattern: '^[ab]*a[ab]{41}$' } });
  expect(await codeOfCreating({ text: 'ab'.repeat(100) })).toBe(201);
  expect(await codeOfCreating({ text: 'ab'.repeat(20_000) })).toBe(299);
});

test('expensive defaults of a definition are validated off the event loop', async () => {
  const definition = (count: number): object =>
    definitionBody({
      versions: [{ name: 'v1', schema: schemaOf({ chosen: { ...CHOSEN, default: items(count) } }) }],
    });
  expect((await api.call('POST', DEFINITIONS_PATH, { body: definition(10) })).code).toBe(201);
  expect((await api.call('POST', DEFINITIONS_PATH, { body: definition(700) })).code).toBe(299);
});
