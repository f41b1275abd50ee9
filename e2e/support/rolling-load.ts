import { eventually } from '../../shared/testing/eventually';
import type { ApiClient } from './client';
import { follow } from './follow';
import { freshCollection } from './fresh-collection';
import { runWriters } from './writers';

const OBJECTS_A_ROUND = 20;

/** The namespace of the objects that the load writes. */
export const LOAD_NAMESPACE = 'load';

export interface RollingLoad {
  stop(): Promise<void>;
  cancel(): Promise<void>;
}

/**
 * Starts writers on all replicas, and a watch that moves between them, while a test replaces parts of the set. `stop` checks that every
 * acknowledged write was seen once and in order; `cancel` only ends the load, while the replicas still run.
 */
export async function startRollingLoad(
  clients: readonly ApiClient[],
  { namespace = LOAD_NAMESPACE, concurrency = 2 } = {},
): Promise<RollingLoad> {
  const [client] = clients;
  if (client === undefined) throw new Error('There are no replicas.');
  const collection = await freshCollection(client, namespace);
  const from = (await client.get(collection)).body.metadata?.resourceVersion ?? '';
  const watching = new AbortController();
  const seen = new Map<string, string[]>();
  const watched = follow(
    {
      clients,
      path: collection,
      from,
      onEvent: ({ object: { metadata } }) => {
        const { name = '', resourceVersion = '' } = metadata ?? {};
        seen.set(name, [...(seen.get(name) ?? []), resourceVersion]);
      },
    },
    watching.signal,
  );
  watched.catch(() => undefined);
  const written = new Map<string, readonly string[]>();
  const over = new AbortController();
  const writing = (async () => {
    for (let round = 0; !over.signal.aborted; round++) {
      const { acknowledged } = await runWriters({
        clients,
        path: collection,
        objects: OBJECTS_A_ROUND,
        concurrency,
        namePrefix: `round-${String(round)}`,
      });
      for (const [name, versions] of acknowledged) written.set(name, versions);
    }
  })();
  writing.catch(() => undefined);
  return {
    async stop() {
      over.abort();
      await writing;
      const lacking = (): readonly string[] =>
        [...written].flatMap(([name, versions]) =>
          versions
            .filter((version) => seen.get(name)?.includes(version) !== true)
            .map((version) => `${name}@${version}`),
        );
      await eventually('every acknowledged write was seen', async () =>
        Promise.resolve(lacking().length === 0),
      );
      for (const [name, versions] of seen) {
        expect({ name, versions }).toEqual({
          name,
          versions: [...new Set(versions)].sort((a, b) => Number(a) - Number(b)),
        });
      }
      watching.abort();
      await watched;
    },
    async cancel() {
      over.abort();
      watching.abort();
      await Promise.allSettled([writing, watched]);
    },
  };
}
