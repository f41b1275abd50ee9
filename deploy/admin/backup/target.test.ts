import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { BackupTarget } from './backup-target';
import { openS3Target, parseS3Url } from './s3-target';
import {
  findBackup,
  findTargetProblems,
  formatBackupName,
  listBackups,
  openDirectoryTarget,
  removeOldBackups,
  writeBackupMetrics,
} from './target';

const PAGE = 2;

/** A small object store with the calls that backups use: pages of two keys, and parts that must be completed. */
class FakeObjectStore {
  readonly objects = new Map<string, Buffer>();
  readonly problems: string[] = [];
  /** A list of parts by upload. */
  readonly uploads = new Map<string, Buffer[]>();
  /** Answers that come before the real ones. */
  readonly failures: number[] = [];
  readonly server: Server = createServer((request, response) => {
    void this.#answer(request, response);
  });

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '', 'http://store');
    const failure = this.failures.shift();
    if (failure !== undefined) {
      response.writeHead(failure).end('<Error><Message>out of order</Message></Error>');
      return;
    }
    const { authorization = '', 'content-md5': md5 } = request.headers;
    if (!/^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/here\/s3\/aws4_request, /u.test(authorization))
      this.problems.push(`no signature: ${authorization}`);
    if (request.method === 'PUT' && md5 !== createHash('md5').update(body).digest('base64'))
      this.problems.push('wrong digest');
    const key = decodeURIComponent(url.pathname.replace(/^\/bucket\/?/u, ''));
    const text = this.#handle(request.method ?? '', { key, query: url.searchParams, body });
    if (text === undefined) response.writeHead(404).end('<Error><Message>no such key</Message></Error>');
    else response.writeHead(200, { etag: '"tag"' }).end(text);
  }

  #handle(
    method: string,
    { key, query, body }: { readonly key: string; readonly query: URLSearchParams; readonly body: Buffer },
  ): string | Buffer | undefined {
    const upload = query.get('uploadId');
    if (method === 'GET') return query.has('list-type') ? this.#list(query) : this.objects.get(key);
    if (method === 'POST' && query.has('uploads')) {
      this.uploads.set('u&1', []);
      return '<InitiateMultipartUploadResult><UploadId>u&amp;1</UploadId></InitiateMultipartUploadResult>';
    }
    if (upload === null) {
      if (method === 'PUT') this.objects.set(key, body);
      else this.objects.delete(key);
      return '';
    }
    const parts = this.uploads.get(upload) ?? [];
    if (method === 'PUT') parts[Number(query.get('partNumber')) - 1] = body;
    else this.uploads.delete(upload);
    if (method === 'POST') this.objects.set(key, Buffer.concat(parts));
    return '';
  }

  #list(query: URLSearchParams): string {
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .toSorted();
    const page = keys.slice(0, PAGE);
    const next =
      keys.length > PAGE ? `<NextContinuationToken>${String(page.at(-1))}</NextContinuationToken>` : '';
    return `<ListBucketResult>${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}${next}</ListBucketResult>`;
  }
}

let dir = '';
let store = new FakeObjectStore();

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'orch-target-'));
  store = new FakeObjectStore();
  await new Promise<void>((resolve) => store.server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  rmSync(dir, { recursive: true });
  store.server.closeAllConnections();
  await new Promise((resolve) => store.server.close(resolve));
  expect(store.problems).toEqual([]);
});

function openStore(partBytes?: number): BackupTarget {
  const { port } = store.server.address() as AddressInfo;
  return openS3Target({
    endpoint: `http://127.0.0.1:${String(port)}`,
    region: 'here',
    bucket: 'bucket',
    prefix: 'team/a',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    ...(partBytes === undefined ? {} : { partBytes }),
  });
}

function makeFile(text: string): string {
  const file = path.join(dir, 'source');
  writeFileSync(file, text);
  return file;
}

const NAMES = [1, 2, 3, 4, 5].map((day) => formatBackupName('etcd', Date.UTC(2026, 0, day, 1, 2, 3)));

describe.each([
  ['a directory', () => openDirectoryTarget(mkdtempSync(path.join(dir, 'backups-')))],
  ['an object store', () => openStore()],
])('%s', (_what, openIt) => {
  test('keeps the newest backups, finds them, and leaves other files alone', async () => {
    const target = openIt();
    await target.put(makeFile('other'), 'readme.txt');
    for (const name of NAMES) await target.put(makeFile(name), name);
    expect(await removeOldBackups(target, 3)).toEqual(NAMES.slice(0, 2));
    expect(await listBackups(target)).toEqual(NAMES.slice(2));
    expect(await target.list()).toContain('readme.txt');
    expect(await findBackup(target, 'latest')).toBe(NAMES[4]);
    await target.get(NAMES[3] ?? '', path.join(dir, 'copy'));
    expect(readFileSync(path.join(dir, 'copy'), 'utf8')).toBe(NAMES[3]);
    await expect(findBackup(target, 'orch-20200101T000000Z.db')).rejects.toThrow(
      /has no backup ".*"; it has/,
    );
  });

  test('without a backup says so', async () => {
    await expect(findBackup(openIt(), 'latest')).rejects.toThrow('the target has no backup; check --target');
  });
});

test('a large file is uploaded in parts, and a server error is retried', async () => {
  store.failures.push(503);
  await openStore(4).put(makeFile('0123456789'), 'large');
  expect(store.objects.get('team/a/large')?.toString()).toBe('0123456789');
  expect(store.uploads.size).toBe(0);
});

test('a refused upload is reported with the message of the store', async () => {
  store.failures.push(403);
  await expect(openStore().put(makeFile('x'), 'name')).rejects.toThrow(
    /^PUT http:.*\/bucket\/team\/a\/name failed with 403 out of order$/,
  );
});

test('an upload in parts that fails is aborted', async () => {
  const target = openStore(4);
  const file = makeFile('0123456789');
  const uploading = target.put(file, 'large');
  while (store.uploads.size === 0) await new Promise(setImmediate);
  store.failures.push(400);
  await expect(uploading).rejects.toThrow('failed with 400');
  expect(store.objects.size + store.uploads.size).toBe(0);
});

test.each([
  ['s3://bucket/a/b/', { bucket: 'bucket', prefix: 'a/b' }],
  ['s3://bucket', { bucket: 'bucket', prefix: '' }],
  ['s3://', undefined],
  ['/backups', undefined],
])('%s is read as an address of an object store', (text, expected) => {
  expect(parseS3Url(text)).toEqual(expected);
});

test('a relative directory and a bad address are refused', () => {
  const flags = { s3Endpoint: '', s3Region: 'here' };
  expect(findTargetProblems({ ...flags, target: 'backups' })[0]).toMatch(/must be an absolute path/);
  expect(findTargetProblems({ ...flags, target: 's3://' })[0]).toMatch(/must be like s3:/);
});

test('metrics of a backup are those that the alert reads', () => {
  const file = path.join(dir, 'orch.prom');
  writeBackupMetrics(file, { nowMs: 5_000, bytes: 7 });
  expect(readFileSync(file, 'utf8')).toMatch(/^orch_backup_last_success_timestamp_seconds 5$/mu);
  expect(readdirSync(dir)).toEqual(['orch.prom']);
});
