import path from 'node:path';
import { repositoryRoot } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { eventually } from '../shared/testing/eventually';
import { configMap, namespace } from './support/objects';
import type { Replica } from './support/replica';
import { sized } from './support/scale';
import { suiteHaSet } from './support/suite';
import { explained, remember } from './support/workspace';
import { runWriters } from './support/writers';

const NAMESPACE = 'informed';
const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

type Summary = readonly [name: string, resourceVersion: string];

interface Line {
  readonly from: 'list' | 'watch' | 'informer';
  readonly type?: string;
  readonly items?: readonly Summary[];
  readonly object?: Summary;
}

describe('@kubernetes/client-node behind the balancer of three replicas', () => {
  let program: StartedProcess;
  const lines: Line[] = [];
  afterAll(async () => {
    await program?.stop(1_000);
  });
  const set = suiteHaSet({
    replicas: 3,
    etcd: 3,
    balancer: true,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });
  beforeAll(
    explained(async () => {
      await set.client.create('/api/v1/namespaces', namespace(NAMESPACE));
      await set.client.create(COLLECTION, configMap('before'));
      program = remember(
        await startProcess({
          name: 'client-node',
          command: process.execPath,
          args: [path.join(repositoryRoot, 'e2e', 'support', 'informer.mjs'), set.kubeconfig, NAMESPACE],
          onLine: (line) => {
            if (line.startsWith('{')) lines.push(JSON.parse(line) as Line);
          },
        }),
      );
    }),
  );

  function seenBy(from: Line['from'], ...types: readonly string[]): readonly Summary[] {
    return lines
      .filter((line) => line.from === from && types.includes(line.type ?? ''))
      .flatMap((line) => (line.object === undefined ? [] : [line.object]));
  }

  test(
    'a list returns the existing objects',
    explained(async () => {
      await eventually('the informer has started', async () => lines.some((line) => line.type === 'started'));
      const [list] = lines.filter((line) => line.from === 'list');
      expect(list?.items?.map(([name]) => name)).toContain('before');
    }),
  );

  test(
    'a watch and an informer lose no event while each replica in turn is killed under them',
    explained(async () => {
      const objects = sized({ full: 3_000, small: 300 });
      const kills: Promise<void>[] = [];
      let last = Promise.resolve();
      const ledger = await runWriters({
        clients: [0, 1, 2].map((index) => set.of(index)),
        path: COLLECTION,
        objects,
        concurrency: 6,
        namePrefix: 'n',
        onAcknowledged(count) {
          // Each replica is killed once, also the one of the client; never two at a time.
          if (kills.length < 3 && count >= (kills.length + 1) * Math.floor(objects / 2)) {
            const replica = set.replicas[kills.length];
            last = killAfter(last, replica);
            kills.push(last);
          }
        },
      });
      await Promise.all(kills);
      expect(kills).toHaveLength(3);

      const end = await set.client.create(COLLECTION, configMap('end'));
      const endVersion = end.body.metadata?.resourceVersion;
      await eventually('watch and informer have seen the last write', async () =>
        [seenBy('watch', 'ADDED'), seenBy('informer', 'add')].every((seen) =>
          seen.some(([, version]) => version === endVersion),
        ),
      );

      expect(seenBy('watch', 'ERROR')).toEqual([]);
      const watched = seenBy('watch', 'ADDED', 'MODIFIED').map(([, version]) => version);
      expect(new Set(watched).size).toBe(watched.length);
      expect(watched).toEqual([...watched].sort((a, b) => Number(a) - Number(b)));
      const acknowledged = [...ledger.acknowledged.values()].flat();
      const seen = new Set(watched);
      expect(acknowledged.filter((version) => !seen.has(version))).toEqual([]);

      const added = seenBy('informer', 'add').map(([name]) => name);
      expect(added).toHaveLength(objects + 2);
      expect(new Set(added).size).toBe(objects + 2);
      const cached = new Map(seenBy('informer', 'add', 'update'));
      const list = await set.client.get(COLLECTION);
      expect(Object.fromEntries(cached)).toEqual(
        Object.fromEntries(
          list.body.items?.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]) ?? [],
        ),
      );
    }),
  );
});

async function killAfter(previous: Promise<void>, replica: Replica | undefined): Promise<void> {
  await previous;
  await replica?.kill('SIGKILL');
  await replica?.restart();
}
