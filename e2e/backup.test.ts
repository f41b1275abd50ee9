import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { openS3Target } from '../deploy/admin/backup/s3-target';
import { ensureCredentials } from '../deploy/local/credentials';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { LOOPBACK, freePort } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { eventually, patience } from '../shared/testing/eventually';
import type { Body } from './support/client';
import { ApiClient } from './support/client';
import type { AdminOutcome } from './support/admin';
import { runAdmin, runAdminWith } from './support/admin';
import { configMap } from './support/objects';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import { explained, makeWorkspace, remember } from './support/workspace';

/** The procedures for backup and restore of deploy/UPGRADING.md. */
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
    'holds every write acknowledged before it, and a restored set continues from it',
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
      const taken = await runAdmin(
        'backup',
        `--etcd-servers=${first.etcd.endpoints.join(',')}`,
        `--file=${snapshot}`,
        '-o=json',
      );
      expect(taken).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(snapshot).mode & 0o777).toBe(0o600);
      const target = path.join(dir, 'target');
      mkdirSync(target);
      for (let turn = 0; turn < 2; turn++)
        expect(
          await runAdmin(
            'backup',
            `--etcd-servers=${first.etcd.endpoints.join(',')}`,
            `--target=${target}`,
            '--retention=1',
            `--metrics-file=${path.join(dir, 'backup.prom')}`,
          ),
        ).toMatchObject({ code: 0, stderr: '' });
      stop.abort();
      await writing;
      expect(later.length).toBeGreaterThan(0);
      const newest = (await write('last')).metadata?.resourceVersion ?? '';
      await first.end();

      const { sha256 } = JSON.parse(taken.stdout) as { readonly sha256: string };
      const listed = await runAdmin('backup', 'list', `--target=${target}`);
      expect(listed.stdout).toMatch(/^orch-\d{8}T\d{6}Z\.db\n$/u);
      const oldDir = path.join(dir, 'from-target');
      mkdirSync(oldDir);
      const fromTarget = await runAdmin(
        'restore',
        `--target=${target}`,
        '--move-old',
        `--data-dir=${oldDir}`,
      );
      expect(fromTarget).toMatchObject({ code: 0, stdout: expect.stringContaining(oldDir) as string });
      expect(readdirSync(dir).filter((name) => name.startsWith('from-target.old-'))).toHaveLength(1);
      const verified = await runAdmin('backup', 'verify', `--file=${snapshot}`);
      expect(verified.stdout).toContain(`sha256 ${sha256}`);
      const dataDir = path.join(dir, 'second', 'etcd', 'etcd-0');
      const restored = await runAdmin('restore', `--file=${snapshot}`, `--data-dir=${dataDir}`);
      expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(sha256) as string });
      const again = await runAdmin('restore', `--file=${snapshot}`, `--data-dir=${dataDir}`);
      expect(again).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('exists; give another one, or --move-old') as string,
      });

      let offset = 0;
      const second = await startSet('second', async (etcd) => {
        offset = await finishRestore(etcd);
      });
      const { client } = second.replica;
      for (const [name, { metadata }] of saved) {
        const { uid, resourceVersion } = (await client.get(`${COLLECTION}/${name}`)).body.metadata ?? {};
        expect({ uid, resourceVersion }).toEqual({
          uid: metadata?.uid,
          resourceVersion: String(Number(metadata?.resourceVersion) + offset),
        });
      }
      // The last write came after the snapshot.
      expect((await client.get(`${COLLECTION}/last`)).status).toBe(404);
      expect((await client.get('/api/v1/namespaces/default')).status).toBe(200);
      const made = await client.create(COLLECTION, configMap('again'));
      // The new version is above all earlier ones, also those after the snapshot. A client with such a version is not considered up to date.
      expect(Number(made.body.metadata?.resourceVersion)).toBeGreaterThan(Number(newest));
      expect(await firstOf(client, `${COLLECTION}?watch=1&resourceVersion=${newest}`)).toMatchObject({
        type: 'ERROR',
        object: { code: 410, reason: 'Expired' },
      });

      // A running replica notices at once, and continues above all versions that it has returned.
      const above = await finishRestore(second.etcd);
      expect(above).toBeGreaterThan(Number(made.body.metadata?.resourceVersion));
      await eventually('the replica has noticed the restore', async () => {
        const { body, status } = await client.get(`${COLLECTION}/again`);
        return status === 200 && Number(body.metadata?.resourceVersion) > above;
      });
      expect((await client.get('/metrics')).text).toMatch(/^apiserver_store_replacements_total 1$/mu);
    }),
  );

  test('a truncated or corrupted backup is refused, and no data folder is created', async () => {
    const cut = path.join(dir, 'cut.db');
    copyFileSync(snapshot, cut);
    truncateSync(cut, statSync(cut).size - 1_000);
    const changed = path.join(dir, 'changed.db');
    copyFileSync(snapshot, changed);
    const file = openSync(changed, 'r+');
    writeSync(file, Buffer.from([1]), 0, 1, 1_000);
    closeSync(file);
    for (const [bad, why] of [
      [cut, 'was cut, or is something else'],
      [changed, 'has changed since it was taken'],
    ] as const) {
      const dataDir = path.join(dir, 'never');
      const outcome = await runAdmin('restore', `--file=${bad}`, `--data-dir=${dataDir}`);
      expect(outcome).toMatchObject({ code: 1, stdout: '' });
      expect(outcome.stderr).toContain(why);
      expect(existsSync(dataDir)).toBe(false);
    }
  });

  /** Resolves to the offset that is added to the revisions of etcd from now on. */
  async function finishRestore({ endpoints }: EtcdCluster): Promise<number> {
    const finished = await runAdmin('restore', 'finish', `--etcd-servers=${endpoints.join(',')}`, '-o=json');
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    return (JSON.parse(finished.stdout) as { readonly offset: number }).offset;
  }

  async function startSet(
    name: string,
    prepare: (etcd: EtcdCluster) => Promise<void> = async () => Promise.resolve(),
  ): Promise<{ readonly etcd: EtcdCluster; readonly replica: Replica; end(): Promise<void> }> {
    const own = path.join(dir, name);
    const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(own, 'etcd') });
    cleanups.push(async () => etcd.stop());
    await prepare(etcd);
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

describe('a backup of an embedded store that is taken while clients write', () => {
  const workspace = makeWorkspace('backup-embedded');
  const replicas: Replica[] = [];

  afterAll(async () => {
    for (const replica of replicas) await replica.stop();
    workspace.remove();
  });

  async function start(name: string): Promise<Replica> {
    const replica = await startReplica({
      name,
      dialect: 'kubernetes',
      storage: { kind: 'embedded', dir: path.join(workspace.dir, name) },
      dir: path.join(workspace.dir, `${name}-own`),
      credentials: ensureCredentials(workspace.dir),
      extraArgs: ['--disable-admission-plugins=ServiceAccount'],
    });
    replicas.push(replica);
    return replica;
  }

  test(
    'holds every write acknowledged before it, and a restored store continues above all versions',
    explained(async () => {
      const first = await start('first');
      const write = async (name: string): Promise<Body> => {
        const { status, body } = await first.client.create(COLLECTION, configMap(name));
        expect(status).toBe(201);
        return body;
      };
      const saved: Body[] = [];
      for (let turn = 0; turn < BEFORE; turn++) saved.push(await write(`m${String(turn)}`));
      const stop = new AbortController();
      const writing = (async () => {
        for (let turn = 0; !stop.signal.aborted; turn++) await write(`later${String(turn)}`);
      })();
      const file = path.join(workspace.dir, 'backup.store');
      const taken = await runAdmin('backup', `--kubeconfig=${first.kubeconfig}`, `--file=${file}`, '-o=json');
      stop.abort();
      await writing;
      expect(taken).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const newest = (await write('last')).metadata?.resourceVersion ?? '';
      const { sha256 } = JSON.parse(taken.stdout) as { readonly sha256: string };
      expect((await runAdmin('backup', 'verify', `--file=${file}`)).stdout).toContain(sha256);
      await first.stop();

      const asEtcd = await runAdmin(
        'restore',
        `--file=${file}`,
        `--data-dir=${path.join(workspace.dir, 'x')}`,
      );
      expect(asEtcd).toMatchObject({ code: 1, stderr: expect.stringContaining('--embedded-dir') as string });
      const target = path.join(workspace.dir, 'second');
      const restored = await runAdmin('restore', `--file=${file}`, `--embedded-dir=${target}`);
      expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(sha256) as string });
      const { client } = await start('second');
      for (const { metadata } of saved) {
        const { body } = await client.get(`${COLLECTION}/${String(metadata?.name)}`);
        expect(body.metadata).toMatchObject({
          uid: metadata?.uid,
          resourceVersion: metadata?.resourceVersion,
        });
      }
      expect((await client.get(`${COLLECTION}/last`)).status).toBe(404);
      const made = await client.create(COLLECTION, configMap('again'));
      expect(Number(made.body.metadata?.resourceVersion)).toBeGreaterThan(Number(newest));
      expect(await firstOf(client, `${COLLECTION}?watch=1&resourceVersion=${newest}`)).toMatchObject({
        type: 'ERROR',
        object: { code: 410 },
      });
    }),
  );

  test('a user without superuser rights cannot take a backup', async () => {
    const { server, caFile } = await start('third');
    const token = ensureCredentials(workspace.dir).controllerManagerToken;
    const stranger = new ApiClient({ server, caFile, token });
    expect((await stranger.get('/debug/store-backup')).status).toBe(403);
    stranger.close();
  });
});

async function firstOf(client: ApiClient, watch: string): Promise<unknown> {
  for await (const event of client.watch(watch, patience())) return event;
  return undefined;
}

const S3RVER = path.join(repositoryRoot, '.tools', 's3rver', 'node_modules', 's3rver', 'bin', 's3rver.js');
const whereStored = existsSync(S3RVER) ? describe : describe.skip;
const BACKUP_NAME = /^orch-\d{8}T\d{6}Z\.db$/u;
const PART_BYTES = 5 * 1_024 * 1_024;
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

whereStored('an S3-compatible object store (s3rver)', () => {
  const workspace = makeWorkspace('backup-s3');
  let endpoint = '';
  let store: StartedProcess | undefined;

  beforeAll(async () => {
    const port = String(await freePort());
    endpoint = `http://${LOOPBACK}:${port}`;
    const where = ['--directory', path.join(workspace.dir, 'store'), '--address', LOOPBACK, '--port', port];
    const args = [S3RVER, ...where, '--configure-bucket', 'backups'];
    store = remember(await startProcess({ name: 's3rver', command: process.execPath, args }));
    await eventually('the store answers', async () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    );
  });

  afterAll(async () => {
    await store?.stop(0);
    workspace.remove();
  });

  /** Runs orch-admin with the credentials of the store. */
  async function admin(...args: readonly string[]): Promise<AdminOutcome> {
    const { accessKeyId, secretAccessKey } = KEYS;
    const place = ['--target=s3://backups/team/one', `--s3-endpoint=${endpoint}`];
    const variables = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    return runAdminWith(variables, ...args, ...place);
  }

  test(
    'keeps as many backups of etcd as configured, and the latest one is restored',
    explained(async () => {
      const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(workspace.dir, 'etcd') });
      const servers = `--etcd-servers=${etcd.endpoints.join(',')}`;
      try {
        for (let turn = 0; turn < 3; turn++)
          expect(await admin('backup', servers, '--retention=2')).toMatchObject({ code: 0, stderr: '' });
      } finally {
        await etcd.stop();
      }
      const listed = (await admin('backup', 'list')).stdout.trim().split('\n');
      expect(listed).toEqual([expect.stringMatching(BACKUP_NAME), expect.stringMatching(BACKUP_NAME)]);
      const dataDir = path.join(workspace.dir, 'restored');
      const restored = await admin('restore', '--backup=latest', `--data-dir=${dataDir}`);
      expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(dataDir) as string });
      expect(existsSync(path.join(dataDir, 'member', 'snap', 'db'))).toBe(true);
    }),
  );

  test('an unknown key is refused with the message of the store', async () => {
    const target = openS3Target({
      ...KEYS,
      accessKeyId: 'another',
      endpoint,
      region: 'us-east-1',
      bucket: 'backups',
      prefix: '',
    });
    await expect(target.list()).rejects.toThrow(/403.*Access Key Id/su);
  });

  test('a file above the size of a part arrives whole', async () => {
    const target = openS3Target({
      ...KEYS,
      endpoint,
      region: 'us-east-1',
      bucket: 'backups',
      prefix: 'large',
      partBytes: PART_BYTES,
    });
    const [file, copy] = [path.join(workspace.dir, 'large'), path.join(workspace.dir, 'copy')];
    writeFileSync(file, randomBytes(2 * PART_BYTES + 1));
    await target.put(file, 'large.db');
    expect(await target.list()).toEqual(['large.db']);
    await target.get('large.db', copy);
    expect(readFileSync(copy).equals(readFileSync(file))).toBe(true);
    await target.remove('large.db');
    expect(await target.list()).toEqual([]);
  });
});
