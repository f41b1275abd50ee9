import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureCredentials } from '../deploy/local/credentials';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import type { Body } from './support/client';
import { configMap } from './support/objects';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import { explained, makeWorkspace } from './support/workspace';

/** What deploy/UPGRADING.md says of backup and restore. */
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const BEFORE = 50;

describe('a snapshot of etcd that is taken while clients write', () => {
  const workspace = makeWorkspace('backup');
  const { dir } = workspace;
  const snapshot = path.join(dir, 'backup.db');
  const cleanups: (() => Promise<void>)[] = [];

  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
    workspace.remove();
  });

  test(
    'holds every write that was acknowledged before it, and a new set on it goes on from there',
    explained(async () => {
      const first = await startSet('first');
      const saved = new Map<string, Body>();
      const later: string[] = [];
      const write = async (name: string): Promise<Body> => {
        const { status, body } = await first.replica.client.create(COLLECTION, configMap(name));
        expect(status).toBe(201);
        return body;
      };
      for (let turn = 0; turn < BEFORE; turn++)
        saved.set(`m${String(turn)}`, await write(`m${String(turn)}`));
      const stop = new AbortController();
      const writing = (async () => {
        for (let turn = 0; !stop.signal.aborted; turn++)
          later.push(String((await write(`later${String(turn)}`)).metadata?.name));
      })();
      await etcdctl(`--endpoints=${String(first.etcd.endpoints[0])}`, 'snapshot', 'save', snapshot);
      stop.abort();
      await writing;
      expect(later.length).toBeGreaterThan(0);
      await write('last');
      await first.end();

      await etcdctl(
        'snapshot',
        'restore',
        snapshot,
        `--data-dir=${path.join(dir, 'second', 'etcd', 'etcd-0')}`,
      );
      const second = await startSet('second');
      const { client } = second.replica;
      for (const [name, { metadata }] of saved) {
        const { uid, resourceVersion } = (await client.get(`${COLLECTION}/${name}`)).body.metadata ?? {};
        expect({ uid, resourceVersion }).toEqual({
          uid: metadata?.uid,
          resourceVersion: metadata?.resourceVersion,
        });
      }
      // The last one was written after the snapshot.
      expect((await client.get(`${COLLECTION}/last`)).status).toBe(404);
      expect((await client.get('/api/v1/namespaces/default')).status).toBe(200);
      const made = await client.create(COLLECTION, configMap('anew'));
      const restored = [...saved.values()].map(({ metadata }) => Number(metadata?.resourceVersion));
      expect(Number(made.body.metadata?.resourceVersion)).toBeGreaterThan(Math.max(...restored));
    }),
  );

  async function startSet(
    name: string,
  ): Promise<{ readonly etcd: EtcdCluster; readonly replica: Replica; end(): Promise<void> }> {
    const own = path.join(dir, name);
    const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(own, 'etcd') });
    cleanups.push(async () => etcd.stop());
    const replica = await startReplica({
      name,
      dialect: 'kubernetes',
      storage: { kind: 'etcd', endpoints: etcd.endpoints },
      dir: own,
      credentials: ensureCredentials(own),
      extraArgs: ['--disable-admission-plugins=ServiceAccount'],
    });
    cleanups.push(async () => replica.stop());
    return {
      etcd,
      replica,
      async end() {
        await replica.stop();
        await etcd.stop();
      },
    };
  }
});

async function etcdctl(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('etcdctl', args, { env: { ...process.env, ETCDCTL_API: '3' } });
}
