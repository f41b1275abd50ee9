import type { Entry } from '../watch-cache/state/entry';
import type { ApiObject } from '../../../shared/object/object';
import type { Endpoint } from '../registry/resource';
import { patience } from '../../../shared/testing/eventually';
import { convertedFrames, unconvertedFrames } from './converted-frames';
import type { ObjectEncoder } from './object-encoder';
import type { Source } from './source';

/** As long as the name of a definition lets a group be. */
const GROUP = `${'g'.repeat(63)}.${'g'.repeat(63)}.${'g'.repeat(63)}.${'g'.repeat(59)}`;
const [FROM, TO] = [`${GROUP}/v1beta1`, `${GROUP}/v1`];

test('an object whose version has a long name is converted as it is stored', async () => {
  const asked: ApiObject[] = [];
  const endpoint = {
    apiVersion: TO,
    custom: { id: 'test' },
    stored: {
      kind: 'Gizmo',
      apiVersion: TO,
      custom: {
        converts: true,
        readAll: async (objects: readonly ApiObject[]) => {
          asked.push(...objects);
          return Promise.reject(new Error('seen'));
        },
      },
    },
  } as unknown as Endpoint;
  const encoder = {
    id: 'test',
    frame: (_type: string, { bytes }: Source) => bytes,
    error: () => Buffer.from('error'),
  } as unknown as ObjectEncoder;
  const entry = { bytes: Buffer.from('"metadata":{"name":"a"}}'), fields: { apiVersion: FROM } };
  const frame = unconvertedFrames(endpoint, encoder).frame('ADDED', entry as unknown as Entry);
  const chunks = (async function* chunksOf() {
    yield Promise.resolve(frame);
  })();
  const shown: string[] = [];
  for await (const each of convertedFrames(chunks, { endpoint, encoder }, patience())) {
    shown.push(each.toString());
  }
  expect(asked).toEqual([{ kind: 'Gizmo', apiVersion: FROM, metadata: { name: 'a' } }]);
  expect(shown).toEqual(['error']);
});
