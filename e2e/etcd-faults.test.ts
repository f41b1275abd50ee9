import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureCredentials } from '../deploy/local/credentials';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { eventually } from '../shared/testing/eventually';
import type { Answer, ApiClient } from './support/client';
import { configMap } from './support/objects';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import { startRollingLoad } from './support/rolling-load';
import { suiteHaSet } from './support/suite';
import { explained, makeWorkspace } from './support/workspace';

const CONCURRENCY = 4;

describe('three members of etcd under load', () => {
  const set = suiteHaSet({
    replicas: 2,
    etcd: 3,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });

  test(
    'a member that lost its data is replaced, and no write and no event is lost',
    explained(async () => {
      await underLoad('lost-member', async () => {
        const { members } = set.etcd;
        const [lost, other] = members;
        if (lost === undefined || other === undefined) throw new Error('There are no members.');
        await lost.kill('SIGKILL');
        await rm(lost.dataDir, { recursive: true, force: true });
        const { id, peerUrl } = await memberOf(other.clientUrl, lost.name);
        // Two members serve all requests once they have a leader.
        await eventually('a write is acknowledged by two members', async () => {
          const { status } = await set.of(0).create(COLLECTION, configMap('with-two-members'));
          return status === 201 || status === 409;
        });
        await etcdctl(other.clientUrl, 'member', 'remove', id);
        await eventually('another member is added', async () =>
          etcdctl(other.clientUrl, 'member', 'add', lost.name, `--peer-urls=${peerUrl}`).then(
            () => true,
            () => false,
          ),
        );
        await lost.start(['--initial-cluster-state=existing']);
        await lost.healthy();
      });
      expect(await replacements()).toEqual([0, 0]);
    }),
  );

  test(
    'the members restart one after the other, and no write and no event is lost',
    explained(async () => {
      await underLoad('rolling-restart', async () => {
        for (const member of set.etcd.members) {
          await member.kill('SIGTERM');
          await member.start(['--initial-cluster-state=existing']);
          await member.healthy();
        }
      });
      expect(await replacements()).toEqual([0, 0]);
    }),
  );

  /** No replica takes any of this for a replacement of the store. */
  async function replacements(): Promise<readonly number[]> {
    return Promise.all(
      set.replicas.map(async ({ client }) => metricOf(client, 'apiserver_store_replacements_total')),
    );
  }

  /** Injects a fault while writers and a watch use all replicas; afterwards the watch must have seen every acknowledged write in order. */
  async function underLoad(name: string, breakIt: () => Promise<void>): Promise<void> {
    const load = await startRollingLoad(
      set.replicas.map(({ client }) => client),
      { namespace: name, concurrency: CONCURRENCY },
    );
    try {
      await breakIt();
      await load.stop();
    } finally {
      await load.cancel();
    }
  }
});

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const QUOTA_BYTES = 16 * 1024 * 1024;
const LARGE = { value: 'x'.repeat(500_000) };

describe('an etcd that is full', () => {
  const workspace = makeWorkspace('full');
  let etcd: EtcdCluster;
  let replica: Replica;

  beforeAll(
    explained(async () => {
      etcd = await startEtcdCluster({
        size: 1,
        dataDir: path.join(workspace.dir, 'etcd'),
        extraArgs: [`--quota-backend-bytes=${String(QUOTA_BYTES)}`],
      });
      replica = await startReplica({
        dialect: 'kubernetes',
        storage: { kind: 'etcd', endpoints: etcd.endpoints },
        dir: workspace.dir,
        credentials: ensureCredentials(workspace.dir),
      });
    }),
  );

  afterAll(async () => {
    await replica?.stop();
    await etcd?.stop();
    workspace.remove();
  });

  test(
    'is reported; reads, watches, deletions and a restart work, and writes resume once there is space',
    explained(async () => {
      const { client } = replica;
      const [endpoint = ''] = etcd.endpoints;
      expect(await metricOf(client, 'apiserver_store_full')).toBe(0);
      const { refused, written } = await fill(client);
      // As in v1.21: 500 without a reason, with the text of etcd, and without a hint that makes clients retry.
      expect(refused.status).toBe(500);
      expect(refused.body).not.toHaveProperty('reason');
      expect(refused.body.message).toContain('etcdserver: mvcc: database space exceeded');
      expect(refused.headers).not.toHaveProperty('retry-after');

      await eventually(
        'the metric reports the state of the store',
        async () => (await metricOf(client, 'apiserver_store_full')) === 1,
      );
      expect((await client.get('/api/v1/componentstatuses/etcd-0')).text).toContain('NOSPACE');
      expect((await client.get('/readyz')).status).toBe(200);
      expect((await client.get('/livez')).status).toBe(200);
      expect((await client.get(COLLECTION)).status).toBe(200);
      const { items = [] } = (await client.get(COLLECTION)).body;
      expect(items.length).toBeGreaterThanOrEqual(written.length);

      // All bootstrap objects exist, so that the start needs no write.
      await replica.kill('SIGTERM');
      await replica.restart();
      expect((await client.create(COLLECTION, configMap('small'))).status).toBe(500);
      for (const name of written) expect((await client.delete(`${COLLECTION}/${name}`)).status).toBe(200);
      expect((await client.get(`${COLLECTION}/${written[0] ?? ''}`)).status).toBe(404);

      const revision = (await client.get(COLLECTION)).body.metadata?.resourceVersion ?? '';
      await etcdctl(endpoint, 'compact', revision);
      await etcdctl(endpoint, 'defrag');
      await etcdctl(endpoint, 'alarm', 'disarm');
      expect((await client.create(COLLECTION, configMap('small'))).status).toBe(201);
      await eventually(
        'the metric reports the state of the store',
        async () => (await metricOf(client, 'apiserver_store_full')) === 0,
      );
      expect((await client.get('/api/v1/componentstatuses/etcd-0')).text).not.toContain('NOSPACE');
    }),
  );

  /** Writes until the store refuses it. */
  async function fill(
    client: ApiClient,
  ): Promise<{ readonly refused: Answer; readonly written: readonly string[] }> {
    const written: string[] = [];
    for (;;) {
      const name = `large-${String(written.length)}`;
      const answer = await client.create(COLLECTION, configMap(name, LARGE));
      if (answer.status !== 201) return { refused: answer, written };
      written.push(name);
    }
  }
});

async function metricOf(client: ApiClient, name: string): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(new RegExp(`^${name} (\\d+)$`, 'mu').exec(text)?.[1]);
}

async function memberOf(
  endpoint: string,
  name: string,
): Promise<{ readonly id: string; readonly peerUrl: string }> {
  const { stdout } = await etcdctl(endpoint, 'member', 'list');
  const [id = '', , , peerUrl = ''] =
    stdout
      .split('\n')
      .map((line) => line.split(', '))
      .find((fields) => fields[2] === name) ?? [];
  return { id, peerUrl };
}

async function etcdctl(endpoint: string, ...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const env = { ...process.env, ETCDCTL_API: '3' };
  return promisify(execFile)('etcdctl', [`--endpoints=${endpoint}`, ...args], { env });
}
