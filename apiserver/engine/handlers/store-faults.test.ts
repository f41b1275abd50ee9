import { setMaxListeners } from 'node:events';
import { untilAborted } from '../../../shared/concurrency/abort';
import type { DeleteOutcome, ListOptions, ListResult, Revision, WatchOptions } from '../storage/backend';
import { StorageError } from '../storage/backend';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';

const CMS = '/api/v1/namespaces/default/configmaps';
const ROOT = '/registry/';

/** A store whose watch can be broken, and whose fill can be held up. */
class FaultyBackend extends FaultyMemoryBackend {
  isFillHeld = false;
  deletions = 0;
  /** The deletion of a key that ends so is not made. */
  undeletable = 'none';
  readonly #shutdown = new AbortController();
  #reset: (error: Error) => void = () => undefined;

  override async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    if (this.isFillHeld && prefix === ROOT)
      await untilAborted(new Promise(() => undefined), this.#shutdown.signal);
    return super.list(prefix, options, signal);
  }

  override async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    const batches = super.watch(options, signal)[Symbol.asyncIterator]();
    const broken = new Promise<never>((_resolve, reject) => {
      this.#reset = reject;
    });
    for (;;) {
      const step = await Promise.race([batches.next(), broken]);
      if (step.done === true) return;
      yield step.value;
    }
  }

  override async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    if (key.endsWith(this.undeletable)) throw new StorageError('unavailable', 'not now');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.deletions += 1;
    return super.delete(key, expected, signal);
  }

  /** The cache loses its state, and does not get another one. */
  loseTheCache(): void {
    setMaxListeners(0, this.#shutdown.signal);
    this.isFillHeld = true;
    this.#reset(new StorageError('reset', 'this is another store'));
  }

  end(): void {
    this.#shutdown.abort(new Error('the test is over'));
  }
}

let backend: FaultyBackend;
let api: InProcessApi;
beforeEach(async () => {
  backend = new FaultyBackend();
  api = await startInProcessApi(backend);
  for (const name of ['a', 'b', 'c']) await api.call('POST', CMS, { body: { metadata: { name } } });
});
afterEach(async () => {
  backend.end();
  await api.close();
});

test('a deletion of a collection returns its error after all deletions have ended', async () => {
  for (let at = 0; at < 100; at += 1)
    await api.call('POST', CMS, { body: { metadata: { name: `x${String(at)}` } } });
  backend.undeletable = '/b';
  expect((await api.call('DELETE', CMS)).json.message).toMatch('not now');
  const { deletions } = backend;
  expect(deletions).toBeLessThan(50);
  const left = await api.call('GET', CMS);
  expect(left.json.items).toHaveLength(103 - deletions);
  expect(backend.deletions).toBe(deletions);
});

describe('while the cache is being rebuilt', () => {
  let version: string;
  let next: string;
  beforeEach(async () => {
    const { metadata } = (await api.call('GET', `${CMS}?limit=2`)).json;
    version = metadata.resourceVersion;
    next = metadata.continue;
    // What is waited for here in vain is not waited for long.
    Object.assign(api.plane.store, { cacheWaitMs: 50 });
    backend.loseTheCache();
    while (api.plane.cache.notReadyReason() === undefined) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  });

  test('past versions are read from the store', async () => {
    expect((await api.call('GET', `${CMS}/a?resourceVersion=${version}`)).code).toBe(200);
    for (const query of [
      `resourceVersion=${version}`,
      `resourceVersionMatch=Exact&resourceVersion=${version}`,
    ]) {
      const reply = await api.call('GET', `${CMS}?${query}`);
      expect([reply.code, reply.json.items?.length]).toEqual([200, 3]);
    }
    const rest = await api.call('GET', `${CMS}?limit=2&continue=${next}`);
    expect([rest.code, rest.json.items?.length]).toEqual([200, 1]);
  });

  test('a future version is still too large', async () => {
    expect((await api.call('GET', `${CMS}?resourceVersion=999999`)).code).toBe(504);
  });

  test('a watch of changes alone does not replay the history', async () => {
    const query = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0';
    expect((await api.call('GET', `${CMS}?${query}`)).code).toBe(503);
  });
});
