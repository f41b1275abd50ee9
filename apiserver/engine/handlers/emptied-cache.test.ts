import { StorageError } from '../storage/backend';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';

/** A store whose watch ends with lost history, so many turns of the microtask queue after the next revision that it shows. */
class ForgetfulBackend extends FaultyMemoryBackend {
  turnsToLoss: number | undefined;

  override async *watch(
    ...asked: Parameters<FaultyMemoryBackend['watch']>
  ): ReturnType<FaultyMemoryBackend['watch']> {
    for await (const revisions of super.watch(...asked)) {
      yield revisions;
      const turns = this.turnsToLoss;
      if (turns === undefined) continue;
      this.turnsToLoss = undefined;
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      throw new StorageError('compacted', 'the history is gone');
    }
  }
}

let backend: ForgetfulBackend;
let api: InProcessApi;
beforeEach(async () => {
  backend = new ForgetfulBackend();
  api = await startInProcessApi(backend);
  for (const name of ['a', 'b']) await api.call('POST', CMS, { body: { metadata: { name } } });
});
afterEach(async () => {
  await api.close();
});

describe.each(Array.from({ length: 12 }, (_, turns) => turns))(
  'a cache that is cleared %d turns after the revision of a waiting reader',
  (turns) => {
    /** Asks for the revision to come, lets it come, and empties the cache behind it. */
    async function askWhileEmptied(url: string): Promise<{ code: number; json: { items?: unknown[] } }> {
      const next = String((await backend.currentRevision(new AbortController().signal)) + 1);
      const asked = api.call('GET', `${url}?resourceVersion=${next}`);
      await new Promise(setImmediate);
      backend.turnsToLoss = turns;
      backend.put(
        '/registry/core/secrets/default/z',
        Buffer.from('{"metadata":{"name":"z","namespace":"default"}}'),
      );
      return asked;
    }

    test('hides no object', async () => {
      expect((await askWhileEmptied(`${CMS}/a`)).code).toBe(200);
    });

    test('shows no list as empty', async () => {
      const { code, json } = await askWhileEmptied(CMS);
      expect({ code, items: json.items?.length }).toEqual({ code: 200, items: 2 });
    });
  },
);
