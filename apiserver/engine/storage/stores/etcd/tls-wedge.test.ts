import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { EtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { silentLog } from '../../../../../shared/log/log';
import { eventually, PATIENCE_MS, patience } from '../../../../../shared/testing/eventually';
import type { Revision, WriteOutcome } from '../../backend';
import { StorageError } from '../../backend';
import type { EtcdBackend } from './etcd-backend';
import { createEtcdBackend } from './etcd-backend';
import { makeCertificates } from './testing/certificates';
import type { TestProxy } from './testing/proxy';
import { startProxy } from './testing/proxy';

const PREFIX = '/registry';
/** Nearly every connection that is reset in this way costs the seconds until it is noticed: they are waited for side by side. */
const LANES = 15;
const ROUNDS = 2;
const WRITERS = 24;

let folder: string;
let cluster: EtcdCluster;
let direct: EtcdBackend;
const lanes: Lane[] = [];

/** A backend whose connections go through a proxy of its own; TLS goes from end to end. */
interface Lane {
  readonly proxy: TestProxy;
  readonly backend: EtcdBackend;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'orch-tls-wedge-'));
  const { server } = await makeCertificates(folder);
  cluster = await startEtcdCluster({
    size: 1,
    extraArgs: ['--unsafe-no-fsync'],
    tls: { ...server, clientCertAuth: false },
  });
  const [endpoint = ''] = cluster.endpoints;
  // Calls end by the keep-alive ping, or by the time limit of the test; they have no limit of their own.
  const callTimeoutMs = 2 * PATIENCE_MS;
  const options = { prefix: PREFIX, log: silentLog, caFile: server.caFile, callTimeoutMs };
  direct = createEtcdBackend({ ...options, endpoints: [endpoint] });
  for (let lane = 0; lane < LANES; lane += 1) {
    const proxy = await startProxy(endpoint);
    const url = proxy.url.replace(/^http:/, 'https:');
    lanes.push({ proxy, backend: createEtcdBackend({ ...options, endpoints: [url] }) });
  }
});

afterAll(async () => {
  for (const { backend, proxy } of lanes) {
    await backend.close();
    await proxy.close();
  }
  await direct?.close();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ended<T> {
  readonly value: T | undefined;
  readonly error: unknown;
}

/** How the call ended, which it must by itself, and not by the patience of the test. */
async function ended<T>(begin: (signal: AbortSignal) => Promise<T>): Promise<Ended<T>> {
  const signal = patience();
  const result = await begin(signal).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  expect(signal.aborted).toBe(false);
  return result;
}

function firstLane(): Lane {
  const [lane] = lanes;
  if (lane === undefined) throw new Error('There is no lane.');
  return lane;
}

/** Follows every revision after `from` until it has seen one, and checks that none is missing and none comes twice. */
function follow(
  backend: EtcdBackend,
  from: number,
): { readonly seen: Revision[]; reach(revision: number): Promise<void> } {
  const seen: Revision[] = [];
  const stop = new AbortController();
  const running = (async () => {
    for await (const batch of backend.watch({ from: from + 1 }, stop.signal)) seen.push(...batch);
  })();
  return {
    seen,
    async reach(revision) {
      await Promise.race([
        eventually('the watch has come so far', () => (seen.at(-1)?.revision ?? 0) >= revision),
        running,
      ]);
      stop.abort();
      await running;
      expect(seen.map((each) => each.revision)).toEqual(
        Array.from({ length: seen.length }, (_, at) => from + 1 + at),
      );
      expect(seen.at(-1)?.revision).toBe(revision);
    },
  };
}

test('connections that fall silent in the middle end their calls, and the watch loses nothing', async () => {
  const { backend, proxy } = firstLane();
  const from = await backend.currentRevision(patience());
  const following = follow(backend, from);
  await direct.create(`${PREFIX}/silent/first`, Buffer.from('x'), {}, patience());
  await eventually('the watch has begun', () => following.seen.length === 1);

  proxy.swallowAfter(100_000);
  const filled = Array.from({ length: 300 }, async (_, at) =>
    direct.create(`${PREFIX}/silent/${String(at)}`, Buffer.alloc(1_000, 'v'), {}, patience()),
  );
  await eventually('a connection is silent', () => proxy.swallowed() === 1);
  proxy.swallowAfter(0);
  const key = `${PREFIX}/silent/first`;
  const [read, write] = await Promise.all([
    ended(async (signal) => backend.get(key, signal)),
    ended(async (signal) => backend.create(`${PREFIX}/silent/unknown`, Buffer.from('w'), {}, signal)),
  ]);
  expect(proxy.swallowed()).toBe(2);
  // A read is retried on another endpoint; a write is never retried.
  expect(read.value?.record?.value.toString()).toBe('x');
  expect(write.error).toMatchObject({ code: 'unknown-outcome' });
  await Promise.all(filled);
  const last = await direct.create(`${PREFIX}/silent/last`, Buffer.from('x'), {}, patience());
  await following.reach(last.revision);
});

test('connections that are reset without a farewell while they are written to end every call at once or unknown', async () => {
  const from = await direct.currentRevision(patience());
  const following = follow(firstLane().backend, from);
  const outcomes = new Map<string, Ended<WriteOutcome>>();
  await Promise.all(
    lanes.map(async ({ proxy, backend }, lane) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const writing = Array.from({ length: WRITERS }, async (_, writer) => {
          const key = `${PREFIX}/reset/${String(lane)}-${String(round)}-${String(writer)}`;
          const value = Buffer.alloc(randomInt(200_000), key);
          outcomes.set(key, await ended(async (signal) => backend.create(key, value, {}, signal)));
        });
        const reading = ended(async (signal) => backend.list(`${PREFIX}/silent/`, {}, signal));
        if (round % 2 === 0) proxy.cutAfter(randomInt(50_000));
        else {
          for (let turns = randomInt(20); turns > 0; turns -= 1) await new Promise(setImmediate);
          proxy.cutAll();
        }
        await Promise.all(writing);
        expect((await reading).value?.records).not.toHaveLength(0);
      }
      proxy.cutAfter(Number.POSITIVE_INFINITY);
    }),
  );
  const { records } = await direct.list(`${PREFIX}/reset/`, { keysOnly: true }, patience());
  const stored = new Map(records.map(({ key, revision }) => [key, revision]));
  const wrong = [...outcomes].filter(([key, outcome]) => !isTrue(outcome, stored.get(key)));
  expect(wrong).toEqual([]);
  expect([...outcomes.values()].filter(({ error }) => error !== undefined)).not.toHaveLength(0);
  const last = await direct.create(`${PREFIX}/reset/last`, Buffer.from('x'), {}, patience());
  await following.reach(last.revision);
  const seen = following.seen.flatMap(({ events }) => events.map((event) => event.key));
  expect(seen.filter((key) => key.startsWith(`${PREFIX}/reset/`))).toHaveLength(stored.size + 1);
});

/** Whether the end of a create fits the stored record: its revision, or undefined where the key is not there. */
function isTrue({ value, error }: Ended<WriteOutcome>, revision: number | undefined): boolean {
  if (value !== undefined) return value.ok && value.revision === revision;
  if (!(error instanceof StorageError)) return false;
  return error.code === 'unknown-outcome' || (error.code === 'unavailable' && revision === undefined);
}
