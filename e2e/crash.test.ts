import path from 'node:path';
import { startApiServer } from '../deploy/local/api-server';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort } from '../deploy/local/ports';
import { configMap } from './support/objects';
import { sized } from './support/scale';
import { suiteLocalServer } from './support/suite';
import { explained, remember } from './support/workspace';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const WRITERS = 8;

describe('one replica on the embedded store', () => {
  const local = suiteLocalServer('orch');

  test(
    'kill -9 in the middle of writes loses no acknowledged write, no acknowledged delete and no event',
    explained(async () => {
      const { replica } = local;
      /** Version by name; undefined once the delete was acknowledged. */
      const acknowledged = new Map<string, string | undefined>();
      let newestVersion = 0;
      for (let round = 0; round < sized({ full: 20, small: 4 }); round++) {
        const before = (await replica.client.get(COLLECTION)).body.metadata?.resourceVersion ?? '';
        const inRound = await writeUntilKilled(round, sized({ full: 500, small: 120 }));
        for (const [name, version] of inRound) {
          acknowledged.set(name, version);
          newestVersion = Math.max(newestVersion, Number(version ?? 0));
        }
        await replica.restart();

        const list = await replica.client.get(COLLECTION);
        expect(Number(list.body.metadata?.resourceVersion)).toBeGreaterThanOrEqual(newestVersion);
        const stored = new Map(
          list.body.items?.map((item) => [item.metadata?.name, item.metadata?.resourceVersion]),
        );
        for (const [name, version] of acknowledged) expect([name, stored.get(name)]).toEqual([name, version]);

        const after = await replica.client.create(COLLECTION, configMap(`after-${String(round)}`));
        expect(Number(after.body.metadata?.resourceVersion)).toBeGreaterThan(
          Number(list.body.metadata?.resourceVersion),
        );
        acknowledged.set(`after-${String(round)}`, after.body.metadata?.resourceVersion);
        await expectHistory(before, inRound, after.body.metadata?.resourceVersion);
      }
    }),
  );

  test(
    'a second server on the same directory fails with a clear error, and the first continues',
    explained(async () => {
      const second = remember(
        await startApiServer({
          name: 'second',
          port: await freePort(),
          dialect: 'orch',
          storage: { kind: 'embedded', dir: local.dataDir },
          certDir: path.join(local.dir, 'second-certs'),
          credentials: ensureCredentials(local.dir),
        }),
      );
      const exit = await second.exited;
      expect(exit.signal).toBeNull();
      expect(exit.code).not.toBe(0);
      expect(second.recentLines().join('\n')).toContain(local.dataDir);

      const written = await local.replica.client.create(COLLECTION, configMap('still-here'));
      expect(written.status).toBe(201);
    }),
  );

  /** Writes through several connections and kills the server after so many responses; returns the acknowledged writes. */
  async function writeUntilKilled(round: number, answers: number): Promise<Map<string, string | undefined>> {
    const { replica } = local;
    const inRound = new Map<string, string | undefined>();
    let count = 0;
    const down = new AbortController();
    let killed: Promise<void> | undefined;
    const answered = (): void => {
      if (++count < answers || killed !== undefined) return;
      killed = replica.kill('SIGKILL').finally(() => {
        down.abort();
      });
    };
    const writer = async (index: number): Promise<void> => {
      for (let step = 0; !down.signal.aborted; step++) {
        const name = `r${String(round)}-w${String(index)}-${String(step)}`;
        const created = await replica.client
          .create(COLLECTION, configMap(name, { name }))
          .catch(() => undefined);
        if (created?.status !== 201) continue;
        inRound.set(name, created.body.metadata?.resourceVersion);
        answered();
        if (step % 3 !== 0) continue;
        // Until the delete is acknowledged, its outcome is unknown.
        inRound.delete(name);
        const deleted = await replica.client.delete(`${COLLECTION}/${name}`).catch(() => undefined);
        if (deleted?.status === 200) inRound.set(name, undefined);
        answered();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)));
    await killed;
    return inRound;
  }

  /** A watch from before the crash still delivers every acknowledged write, once and in order. */
  async function expectHistory(
    from: string,
    inRound: ReadonlyMap<string, string | undefined>,
    until: string | undefined,
  ): Promise<void> {
    const stop = new AbortController();
    const versions: number[] = [];
    const addedAt = new Map<string, string | undefined>();
    const deleted = new Set<string>();
    const watched = `${COLLECTION}?watch=true&resourceVersion=${from}`;
    for await (const { type, object } of local.replica.client.watch(watched, stop.signal)) {
      const { name = '', resourceVersion } = object.metadata ?? {};
      versions.push(Number(resourceVersion));
      if (type === 'ADDED') addedAt.set(name, resourceVersion);
      else if (type === 'DELETED') deleted.add(name);
      else throw new Error(`unexpected event: ${type} ${JSON.stringify(object)}`);
      if (resourceVersion === until) stop.abort();
    }
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    for (const [name, version] of inRound) {
      const seen = version === undefined ? deleted.has(name) : addedAt.get(name);
      expect([name, seen]).toEqual([name, version ?? true]);
    }
  }
});
