import * as fc from 'fast-check';

import { createClient } from '../client/client';
import type { FakeApiServer } from '../client/testing/fake-api-server';
import { createFakeApiServer } from '../client/testing/fake-api-server';
import { CONFIG_MAPS } from '../client/testing/fake-resources';
import type { ApiObject } from '../object/object';
import { PATIENCE_MS } from '../testing/eventually';
import { createInformer } from './informer';
import { keyOfObject } from './store';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const place = (name: string) => ({ resource: CONFIG_MAPS, namespace: 'ns', name });

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('write' as const), name, value: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const), names: fc.uniqueArray(name) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cut' as const,
        'end' as const,
        'gone' as const,
        'compact' as const,
        'bookmark' as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('endAfter' as const), events: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pause' as const), turns: fc.integer({ min: 1, max: 4 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function act(server: FakeApiServer, what: Step): void {
  const { store } = server;
  if (what.do === 'write') {
    const object = { metadata: { namespace: 'ns', name: what.name }, data: { value: what.value } };
    if (store.find(place(what.name)) === undefined) store.create(place(what.name), object);
    else store.update(place(what.name), object);
  } else if (what.do === 'delete') {
    if (store.find(place(what.name)) !== undefined) store.delete(place(what.name), {});
  } else if (what.do === 'expire') {
    store.expire(what.names.map(place).filter((each) => store.find(each) !== undefined));
  } else if (what.do === 'endAfter') server.endWatchesAfter(what.events);
  else if (what.do === 'cut') server.cutConnections();
  else if (what.do === 'end') server.endWatches();
  else if (what.do === 'gone') server.expireWatches();
  else if (what.do === 'compact') store.compact();
  else if (what.do === 'bookmark') server.sendBookmarks();
}

/** The calls of a handler, checked against the rules as they come. */
class Witness {
  readonly known = new Map<string, ApiObject>();
  readonly #versions = new Map<string, number>();
  readonly faults: string[] = [];

  add(object: ApiObject): void {
    if (this.known.has(keyOfObject(object))) this.faults.push(`added twice: ${keyOfObject(object)}`);
    this.#take(object);
  }

  update(before: ApiObject, after: ApiObject): void {
    if (this.known.get(keyOfObject(after)) !== before) this.faults.push(`gap before ${keyOfObject(after)}`);
    if (before.metadata.uid !== after.metadata.uid)
      this.faults.push(`two objects as one: ${keyOfObject(after)}`);
    this.#take(after);
  }

  delete(last: ApiObject): void {
    if (!this.known.delete(keyOfObject(last))) this.faults.push(`deleted twice: ${keyOfObject(last)}`);
  }

  #take(object: ApiObject): void {
    const key = keyOfObject(object);
    const version = Number(object.metadata.resourceVersion);
    if (version <= (this.#versions.get(key) ?? 0)) this.faults.push(`went back or doubled: ${key}`);
    this.#versions.set(key, version);
    this.known.set(key, object);
  }
}

const content = (objects: Iterable<ApiObject>): string[] =>
  [...objects].map((object) => `${keyOfObject(object)}@${object.metadata.resourceVersion ?? ''}`).toSorted();

test('whatever is written, cut and forgotten, the store ends as the server is, and handlers see no gap, double or step back', async () => {
  const server = await createFakeApiServer();
  server.store.checksNamespaces = false;
  const client = createClient({ server: server.url });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      const stop = new AbortController();
      const witness = new Witness();
      const informer = createInformer({
        client,
        resource: CONFIG_MAPS,
        retry: { initialMs: 1, maxMs: 4 },
      });
      informer.addHandler({
        onAdd: (object) => witness.add(object),
        onUpdate: (before, after) => witness.update(before, after),
        onDelete: (last) => witness.delete(last),
      });
      const running = informer.run(stop.signal);
      for (const each of steps) {
        if (each.do === 'pause') {
          for (let turn = 0; turn < each.turns; turn += 1)
            await new Promise((resolve) => setTimeout(resolve, 1));
        } else act(server, each);
      }
      const expected = (): string => content(server.store.list(CONFIG_MAPS)).join();
      const deadline = performance.now() + PATIENCE_MS;
      while (content(informer.store.list()).join() !== expected() && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(witness.faults).toEqual([]);
      expect(content(informer.store.list()).join()).toBe(expected());
      expect(content(witness.known.values())).toEqual(content(informer.store.list()));
      stop.abort();
      await running;
    }),
    // A failing run waits out its deadline; shrinking would repeat that hundreds of times.
    { numRuns: 60, endOnFailure: true },
  );
  await server.close();
});
