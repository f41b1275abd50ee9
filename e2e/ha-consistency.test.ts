import { eventually } from '../shared/testing/eventually';
import type { WatchEvent } from './support/client';
import { follow } from './support/follow';
import { freshCollection } from './support/fresh-collection';
import { configMap } from './support/objects';
import { sized } from './support/scale';
import { suiteHaSet } from './support/suite';
import { explained } from './support/workspace';
import { runWriters } from './support/writers';

describe('three replicas on three etcd members', () => {
  const followers = new AbortController();
  // The followers of a failed test would try to reach the replicas for ever.
  afterAll(() => {
    followers.abort();
  });
  const set = suiteHaSet({
    replicas: 3,
    etcd: 3,
    balancer: false,
    controllerManagers: 0,
    dialect: 'orch',
  });

  async function versionOf(path: string, replica: number): Promise<string> {
    const version = (await set.of(replica).get(path)).body.metadata?.resourceVersion;
    expect(version).toMatch(/^[1-9]\d*$/u);
    return version ?? '';
  }

  test(
    'a write through one replica is visible on another at once, in get and in list',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'at-once');
      for (let round = 0; round < sized({ full: 500, small: 60 }); round++) {
        const [a, b, c] = [set.of(round % 3), set.of((round + 1) % 3), set.of((round + 2) % 3)];
        const name = `round-${String(round)}`;

        const created = await a.create(path, configMap(name, { round: 'one' }));
        expect(created.status).toBe(201);
        expect((await b.get(`${path}/${name}`)).body).toEqual(created.body);
        expect((await c.get(path)).body.items?.map((item) => item.metadata?.name)).toContain(name);

        const updated = await b.update(`${path}/${name}`, configMap(name, { round: 'two' }));
        expect(updated.status).toBe(200);
        expect((await c.get(`${path}/${name}`)).body).toEqual(updated.body);

        expect((await c.delete(`${path}/${name}`)).status).toBe(200);
        expect((await a.get(`${path}/${name}`)).status).toBe(404);
        expect((await b.get(path)).body.items).toEqual([]);
      }
    }),
  );

  test(
    'a watch on a third replica from the version before a write sees that write exactly once',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'exactly-once');
      for (let round = 0; round < sized({ full: 200, small: 30 }); round++) {
        const before = await versionOf(path, round % 3);
        const name = `round-${String(round)}`;
        const written = await set.of((round + 1) % 3).create(path, configMap(name));
        const last = await set.of(round % 3).create(path, configMap(`${name}-last`));
        expect([written.status, last.status]).toEqual([201, 201]);

        const seen: (readonly [string, string | undefined, string | undefined])[] = [];
        const stop = new AbortController();
        const watched = `${path}?watch=true&resourceVersion=${before}`;
        for await (const { type, object } of set.of((round + 2) % 3).watch(watched, stop.signal)) {
          seen.push([type, object.metadata?.name, object.metadata?.resourceVersion]);
          if (object.metadata?.name === `${name}-last`) stop.abort();
        }
        expect(seen).toEqual([
          ['ADDED', name, written.body.metadata?.resourceVersion],
          ['ADDED', `${name}-last`, last.body.metadata?.resourceVersion],
        ]);
      }
    }),
  );

  test(
    'a replica that was frozen returns no stale read when it resumes',
    explained(async () => {
      const path = await freshCollection(set.of(0), 'frozen');
      await set.of(2).create(path, configMap('clock', { tick: '0' }));
      for (let round = 1; round <= 5; round++) {
        set.replicas[2]?.pause();
        const updated = await set.of(0).update(`${path}/clock`, configMap('clock', { tick: String(round) }));
        expect(updated.status).toBe(200);
        const asked = set.of(2).get(`${path}/clock`);
        set.replicas[2]?.resume();
        expect((await asked).body.data).toEqual({ tick: String(round) });
      }
    }),
  );

  test(
    'a replica that starts while the etcd leader is frozen waits for the next leader',
    explained(async () => {
      const { pid } = await set.etcd.leader();
      if (pid === undefined) throw new Error('the leader is not running');
      process.kill(pid, 'SIGSTOP');
      try {
        await set.replicas[0]?.restart();
        expect((await set.of(0).get('/api/v1/namespaces/default')).status).toBe(200);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await set.etcd.leader();
    }),
  );

  test(
    'kill -9 of a replica and of the etcd leader during a run of writes loses no acknowledged write and no watch event',
    explained(async () => {
      const writes = sized({ full: 10_000, small: 1_000 });
      const path = await freshCollection(set.of(0), 'killed');
      const from = await versionOf(path, 0);

      const clients = [0, 1, 2].map((index) => set.of(index));
      // One watcher per replica; that of the killed replica resumes on another one.
      const logs = clients.map((): WatchEvent[] => []);
      const following = logs.map((log, index) =>
        follow(
          {
            clients: [...clients.slice(index), ...clients.slice(0, index)],
            path,
            from,
            onEvent: (event) => log.push(event),
          },
          followers.signal,
        ),
      );

      const damage: Promise<void>[] = [];
      const ledger = await runWriters({
        clients,
        path,
        objects: writes / 2,
        concurrency: 16,
        namePrefix: 'w',
        onAcknowledged(count) {
          if (count === Math.floor(writes / 4)) damage.push(killReplica());
          if (count === Math.floor(writes / 2)) damage.push(killEtcdLeader());
        },
      });
      expect(damage).toHaveLength(2);
      await Promise.all(damage);

      const list = await set.of(1).get(path);
      const items = new Map(list.body.items?.map((item) => [item.metadata?.name, item]));
      expect(items.size).toBe(writes / 2);
      for (const item of items.values()) expect(item.data).toEqual({ step: 'updated' });

      const last = await set.of(1).create(path, configMap('last'));
      const lastVersion = last.body.metadata?.resourceVersion;
      const isComplete = (log: readonly WatchEvent[]): boolean =>
        log.at(-1)?.object.metadata?.resourceVersion === lastVersion;
      await Promise.race([
        Promise.all(following),
        eventually('every watcher has seen the last write', async () => logs.every(isComplete)),
      ]);
      followers.abort();
      await Promise.all(following);

      const acknowledged = [...ledger.acknowledged.values()].flat();
      for (const log of logs) {
        const versions = log.map((event) => event.object.metadata?.resourceVersion ?? '');
        expect(versions).toEqual([...versions].sort((a, b) => Number(a) - Number(b)));
        expect(new Set(versions).size).toBe(versions.length);
        const seen = new Set(versions);
        expect(acknowledged.filter((version) => !seen.has(version))).toEqual([]);
        // Each object was created once and updated at least once; more only where an outcome was unknown.
        expect(log.filter((event) => event.type === 'ADDED')).toHaveLength(writes / 2 + 1);
        expect(log.length).toBeLessThanOrEqual(acknowledged.length + ledger.unknownOutcomes + 1);
        const lastOf = new Map(
          log.map((event) => [event.object.metadata?.name, event.object.metadata?.resourceVersion]),
        );
        for (const [name, item] of items) expect(lastOf.get(name)).toBe(item.metadata?.resourceVersion);
      }
      process.stdout.write(
        `  ${String(acknowledged.length)} acknowledged writes, ${String(ledger.unknownOutcomes)} unknown outcomes reconciled\n`,
      );
    }),
  );

  async function killReplica(): Promise<void> {
    await set.replicas[0]?.kill('SIGKILL');
    await set.replicas[0]?.restart();
  }

  async function killEtcdLeader(): Promise<void> {
    const leader = await set.etcd.leader();
    await leader.kill('SIGKILL');
    await set.etcd.leader();
    await leader.start();
    await leader.healthy();
  }
});
