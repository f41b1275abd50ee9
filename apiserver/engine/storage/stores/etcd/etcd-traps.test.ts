import { mkdtemp, rm } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { EtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../../../../../deploy/local/etcd-cluster';
import { silentLog } from '../../../../../shared/log/log';
import { PATIENCE_MS, patience } from '../../../../../shared/testing/eventually';
import type { Revision, StorageError } from '../../backend';
import type { CompactionTurn } from './compactor';
import { compactOnce, COMPACT_REVISION_KEY, runCompactor } from './compactor';
import type { EtcdBackend } from './etcd-backend';
import { createEtcdBackend } from './etcd-backend';
import { METHODS } from './codec';
import { http2TransportFactory } from '../../grpc/http2-transport';
import { WHOLE_KEYSPACE } from './keys';
import { clientTlsOf } from '../../../../../shared/client/tls-files';
import { STATUS } from '../../grpc/transport';
import { enableAuth } from './testing/auth';
import type { TestCertificates } from './testing/certificates';
import { makeCertificates } from './testing/certificates';
import { freeze } from './testing/freeze';
import { endLeases } from './testing/leases';
import { startProxy } from './testing/proxy';

const PREFIX = '/registry';
const FAST = ['--unsafe-no-fsync'];

/** Runs `body` with a backend on these endpoints and closes it whatever happens. */
async function withBackend(
  endpoints: readonly string[],
  body: (backend: EtcdBackend) => Promise<void>,
  more: Partial<Parameters<typeof createEtcdBackend>[0]> = {},
): Promise<void> {
  const backend = createEtcdBackend({
    endpoints,
    prefix: PREFIX,
    log: silentLog,
    // A machine with much else to do may take longer for an answer than a server waits for it.
    callTimeoutMs: PATIENCE_MS,
    ...more,
  });
  try {
    await body(backend);
  } finally {
    await backend.close();
  }
}

/** Writes `count` records, 64 at a time, and returns the revision of the last. */
async function fill(backend: EtcdBackend, count: number, value: Buffer = Buffer.from('x')): Promise<number> {
  let newest = 0;
  for (let start = 0; start < count; start += 64) {
    const outcomes = await Promise.all(
      Array.from({ length: Math.min(64, count - start) }, async (_, index) =>
        backend.create(`${PREFIX}/fill/${String(start + index).padStart(6, '0')}`, value, {}, patience()),
      ),
    );
    newest = Math.max(newest, ...outcomes.map((outcome) => outcome.revision));
  }
  return newest;
}

/** Reads a watch until it has seen `until`. */
async function collect(
  backend: EtcdBackend,
  from: number,
  until: number,
  onBatch: (seen: readonly Revision[]) => void | Promise<void> = () => undefined,
): Promise<readonly Revision[]> {
  const seen: Revision[] = [];
  for await (const batch of backend.watch({ from }, patience())) {
    seen.push(...batch);
    await onBatch(seen);
    if ((seen.at(-1)?.revision ?? 0) >= until) return seen;
  }
  throw new Error(`The watch ended at ${String(seen.at(-1)?.revision)}, before ${String(until)}.`);
}

async function expectWorking(backend: EtcdBackend): Promise<void> {
  const made = await backend.create(`${PREFIX}/tls`, Buffer.from('1'), {}, patience());
  const seen = await collect(backend, made.revision, made.revision);
  expect(seen[0]?.events[0]?.key).toBe(`${PREFIX}/tls`);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe('one etcd', () => {
  let cluster: EtcdCluster;
  const url = (): string => cluster.endpoints[0]!;

  beforeEach(async () => {
    cluster = await startEtcdCluster({ size: 1, extraArgs: FAST });
  });
  afterEach(async () => {
    await cluster.stop();
  });

  test('a connection cut again and again during a catch-up of 2,500 events loses none and doubles none', async () => {
    const proxy = await startProxy(url());
    let newest = 0;
    await withBackend([url()], async (direct) => {
      newest = await fill(direct, 2_500, Buffer.alloc(200, 'v'));
    });
    await withBackend([proxy.url], async (backend) => {
      proxy.cutAfter(100_000);
      const seen = await collect(backend, 2, newest, () => {
        if (proxy.cuts() < 5) proxy.cutAfter(100_000);
      });
      expect(proxy.cuts()).toBeGreaterThanOrEqual(3);
      expect(seen.map((each) => each.revision)).toEqual(range(2, newest));
      expect(new Set(seen.map((each) => each.events[0]?.key)).size).toBe(2_500);
    });
    await proxy.close();
  });

  test('a catch-up batch far over 4 MiB arrives whole, and so does a range', async () => {
    await withBackend([url()], async (backend) => {
      const value = Buffer.alloc(100_000, 'v');
      const newest = await fill(backend, 120, value);
      const seen = await collect(backend, 2, newest);
      expect(seen.map((each) => each.revision)).toEqual(range(2, newest));
      const list = await backend.list(`${PREFIX}/`, {}, patience());
      expect(list.records).toHaveLength(120);
      expect(list.records.every((record) => record.value.equals(value))).toBe(true);
      expect(list.remaining).toBe(0);
    });
  });

  test('a compaction during a catch-up ends the watch with the oldest revision that is readable', async () => {
    const proxy = await startProxy(url());
    await withBackend([proxy.url], async (backend) => {
      const newest = await fill(backend, 1_200);
      let compacted = false;
      const reading = collect(backend, 2, newest + 1_000_000, async (seen) => {
        if (compacted) return;
        compacted = true;
        expect(seen.at(-1)?.revision).toBeLessThan(newest - 100);
        await backend.compact(newest - 100, patience());
        proxy.cutAll();
      });
      await expect(reading).rejects.toMatchObject({ code: 'compacted', compactRevision: newest - 100 });
      const again = await collect(backend, newest - 100, newest);
      expect(again.map((each) => each.revision)).toEqual(range(newest - 100, newest));
    });
    await proxy.close();
  });

  test('a deletion at exactly the compacted revision is seen by a watch from there, or reported as compacted', async () => {
    await withBackend([url()], async (backend) => {
      const made = await backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
      const gone = await backend.delete(`${PREFIX}/a`, made.revision, patience());
      await backend.create(`${PREFIX}/b`, Buffer.from('1'), {}, patience());
      await backend.compact(gone.revision, patience());
      for (const prefix of [undefined, `${PREFIX}/`]) {
        const options = prefix === undefined ? { from: gone.revision } : { from: gone.revision, prefix };
        const first = backend.watch(options, patience())[Symbol.asyncIterator]().next();
        const seen = await first.then(
          (step) => (step.value as readonly Revision[])[0]?.revision,
          (error: unknown) => (error as StorageError).compactRevision,
        );
        // Which of the two depends on the version of etcd; it must not begin silently after the deletion.
        const isSeen = await first.then(
          () => true,
          () => false,
        );
        expect(seen).toBe(isSeen ? gone.revision : gone.revision + 1);
      }
    });
  });

  test('a list at a compacted revision names the oldest that is readable', async () => {
    await withBackend([url()], async (backend) => {
      const newest = await fill(backend, 10);
      await backend.compact(newest, patience());
      await expect(backend.list(`${PREFIX}/`, { revision: 3 }, patience())).rejects.toMatchObject({
        code: 'compacted',
        compactRevision: newest,
      });
      await expect(backend.list(`${PREFIX}/`, { revision: newest + 10 }, patience())).rejects.toMatchObject({
        code: 'future',
      });
    });
  });

  test('etcd killed and restarted under a watch and a read only delays them', async () => {
    await cluster.stop();
    // Without fsync a kill could lose what was acknowledged.
    cluster = await startEtcdCluster({ size: 1 });
    await withBackend([url()], async (backend) => {
      const first = await fill(backend, 200);
      let killed = false;
      const reading = collect(backend, 2, first + 1, async (seen) => {
        if (killed || (seen.at(-1)?.revision ?? 0) < first) return;
        killed = true;
        await cluster.members[0]!.kill('SIGKILL');
        const read = backend.currentRevision(patience());
        await cluster.members[0]!.start();
        expect(await read).toBe(first);
        await backend.create(`${PREFIX}/after`, Buffer.from('x'), {}, patience());
      });
      const seen = await reading;
      expect(seen.map((each) => each.revision)).toEqual(range(2, first + 1));
    });
  });

  test('killed under 32 writers, etcd has every acknowledged write, no failed write, and none twice', async () => {
    await cluster.stop();
    cluster = await startEtcdCluster({ size: 1 });
    await withBackend([url()], async (backend) => {
      const outcomes = new Map<string, number | string>();
      const acknowledged = (): number =>
        [...outcomes.values()].filter((each) => typeof each === 'number').length;
      const writing = async (writer: number, until: () => boolean): Promise<void> => {
        for (let index = 0; !until(); index++) {
          const key = `${PREFIX}/${String(writer)}/${String(outcomes.size)}-${String(index)}`;
          const [made] = await Promise.allSettled([backend.create(key, Buffer.from('x'), {}, patience())]);
          outcomes.set(
            key,
            made.status === 'fulfilled' ? made.value.revision : (made.reason as StorageError).code,
          );
        }
      };
      const writers = async (until: () => boolean): Promise<unknown> =>
        Promise.all(range(1, 32).map(async (writer) => writing(writer, until)));
      let goal = 300;
      let killing: Promise<void> | undefined;
      const kill = async (): Promise<void> => {
        await cluster.members[0]!.kill('SIGKILL');
        await cluster.members[0]!.start();
        goal = acknowledged() + 100;
      };
      await writers(() => {
        if (acknowledged() >= goal && killing === undefined) {
          goal = Number.POSITIVE_INFINITY;
          killing = kill();
        }
        return acknowledged() >= goal;
      });
      await killing;
      const made = new Map<string, number>();
      let events = 0;
      for (const revision of await collect(backend, 2, await backend.currentRevision(patience()))) {
        for (const event of revision.events) {
          events++;
          made.set(event.key, revision.revision);
        }
      }
      expect(events).toBe(made.size);
      const wrong = [...outcomes].filter(([key, outcome]) =>
        typeof outcome === 'number'
          ? made.get(key) !== outcome
          : outcome !== 'unknown-outcome' && made.has(key),
      );
      expect(wrong).toEqual([]);
      expect([...outcomes.values()]).toContain('unknown-outcome');
    });
  });

  test('etcd that hangs is noticed by its silence, on a watch and on a read', async () => {
    const connect = http2TransportFactory({
      clientTls: clientTlsOf({}, silentLog),
      dialTimeoutMs: PATIENCE_MS,
      tuning: { keepAliveMs: 200, pingTimeoutMs: 3_000 },
    });
    const transport = connect(url());
    const { pid } = cluster.members[0]!;
    try {
      await transport.ready(PATIENCE_MS, patience());
      const create = { ...WHOLE_KEYSPACE, startRevision: 1, prevKv: false, fragment: true };
      const watch = transport.stream(METHODS.watch, { create }, {})[Symbol.asyncIterator]();
      expect((await watch.next()).value).toMatchObject([{ created: true }]);
      await freeze(pid!);
      const key = Buffer.from(PREFIX);
      const reading = transport.unary(METHODS.range, { key }, { timeoutMs: PATIENCE_MS, signal: patience() });
      const silence = { code: STATUS.unavailable, mayHaveRun: true };
      await expect(watch.next()).rejects.toMatchObject(silence);
      await expect(reading).rejects.toMatchObject(silence);
      expect(await transport.ready(300, patience())?.catch((error: Error) => error.message)).toMatch(
        /in time/,
      );
    } finally {
      process.kill(pid!, 'SIGCONT');
      transport.close();
    }
  });

  test('a write cut off after it left has an unknown outcome and is not made twice', async () => {
    const proxy = await startProxy(url());
    await withBackend([proxy.url], async (backend) => {
      const first = await backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
      proxy.cutAfter(0);
      const write = backend.update(`${PREFIX}/a`, Buffer.from('2'), { expected: first.revision }, patience());
      await expect(write).rejects.toMatchObject({ code: 'unknown-outcome' });
      const { record } = await backend.get(`${PREFIX}/a`, patience());
      // etcd had made it: the answer, not the request, was lost.
      expect(record).toMatchObject({ revision: first.revision + 1 });
      expect(await backend.currentRevision(patience())).toBe(first.revision + 1);
    });
    await proxy.close();
  });

  test('a write to endpoints of which only one is up goes there', async () => {
    await withBackend(['http://127.0.0.1:1', url()], async (backend) => {
      const made = await backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
      expect(made.ok).toBe(true);
    });
  });

  test('only dead endpoints: reads and writes fail as unavailable', async () => {
    await withBackend(
      ['http://127.0.0.1:1'],
      async (backend) => {
        const write = backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
        await expect(write).rejects.toMatchObject({ code: 'unavailable' });
        await expect(write).rejects.toThrow(/ECONNREFUSED/);
      },
      { callTimeoutMs: 3_000 },
    );
  });

  test('a lease that ends deletes many keys in one revision, which arrives whole', async () => {
    await withBackend([url()], async (backend) => {
      const value = Buffer.alloc(10);
      const keys = range(1, 400).map((index) => `${PREFIX}/${'k'.repeat(3_000)}/${String(index)}`);
      // Objects of one TTL share a lease for a while, which here does not pass before all of them are made.
      const shortLived = { ttlSeconds: 3_600 };
      const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      const made = await Promise.all(
        keys.map(async (key) => backend.create(key, value, shortLived, patience())),
      );
      clock.mockRestore();
      const newest = Math.max(...made.map((each) => each.revision));
      expect(await endLeases(url())).toBe(1);
      for await (const batch of backend.watch({ from: newest + 1, withPrevious: true }, patience())) {
        // 400 events of 6 KB (key and previous record) are more than one fragment.
        expect(batch).toHaveLength(1);
        expect(batch[0]!.revision).toBe(newest + 1);
        const nameOf = (key: string): string => path.basename(key);
        expect(batch[0]!.events.map(({ key }) => nameOf(key)).toSorted()).toEqual(
          keys.map(nameOf).toSorted(),
        );
        expect(
          batch[0]!.events.every((event) => event.type === 'delete' && event.previous !== undefined),
        ).toBe(true);
        return;
      }
    });
  });

  test('a caller that aborts during the grant of a lease does not affect callers that share it', async () => {
    const proxy = await startProxy(url());
    await withBackend([proxy.url], async (backend) => {
      await backend.currentRevision(patience());
      proxy.freeze();
      const leaving = new AbortController();
      const create = async (key: string, signal: AbortSignal): ReturnType<EtcdBackend['create']> =>
        backend.create(`${PREFIX}/shared/${key}`, Buffer.from('x'), { ttlSeconds: 3_600 }, signal);
      const first = create('first', leaving.signal);
      const second = create('second', patience());
      leaving.abort(new Error('the client left'));
      await expect(first).rejects.toThrow('the client left');
      proxy.thaw();
      expect(await second).toMatchObject({ ok: true });
    });
    await proxy.close();
  });

  test('foreign keys advance the revision and show no event', async () => {
    await withBackend([url()], async (backend) => {
      const made = await backend.create('/registry2/foreign', Buffer.from('x'), {}, patience());
      await backend.create(`${PREFIX}/own`, Buffer.from('x'), {}, patience());
      const seen = await collect(backend, made.revision, made.revision + 1);
      expect(seen.map((each) => [each.revision, each.events.length])).toEqual([
        [made.revision, 0],
        [made.revision + 1, 1],
      ]);
    });
  });

  test('a value that etcd refuses for its size fails as too-large and changes nothing', async () => {
    await withBackend([url()], async (backend) => {
      for (const bytes of [1_600_000, 5_000_000]) {
        await expect(
          backend.create(`${PREFIX}/a`, Buffer.alloc(bytes), {}, patience()),
        ).rejects.toMatchObject({ code: 'too-large' });
      }
      expect((await backend.get(`${PREFIX}/a`, patience())).record).toBeUndefined();
    });
  });

  test('another cluster at the same address resets the watch and the reads', async () => {
    const other = await startEtcdCluster({ size: 1, extraArgs: FAST });
    const proxy = await startProxy(url());
    await withBackend([proxy.url], async (backend) => {
      const newest = await fill(backend, 20);
      let moved = false;
      const reading = collect(backend, 2, newest + 1_000, () => {
        if (moved) return;
        moved = true;
        proxy.retarget(other.endpoints[0]!);
        proxy.cutAll();
      });
      await expect(reading).rejects.toMatchObject({ code: 'reset' });
      await withBackend([proxy.url], async (fresh) => {
        expect(await fresh.currentRevision(patience())).toBe(1);
      });
    });
    await proxy.close();
    await other.stop();
  });

  test('a slow reader is held back by flow control and does not hold up another watch or a write', async () => {
    const proxy = await startProxy(url());
    await withBackend([proxy.url], async (backend) => {
      const value = Buffer.alloc(50_000, 'v');
      const newest = await fill(backend, 1_500, value);
      const before = proxy.passedBytes();
      const slow = backend.watch({ from: 2 }, patience())[Symbol.asyncIterator]();
      expect((await slow.next()).done).toBe(false);
      const seen = await collect(backend, newest, newest);
      expect(seen).toHaveLength(1);
      const made = await backend.create(`${PREFIX}/more`, value, {}, patience());
      expect(made.ok).toBe(true);
      // 75 MB lie before the slow reader; what is read ahead of it is bounded.
      expect(proxy.passedBytes() - before).toBeLessThan(60_000_000);
      let last = 0;
      for (;;) {
        const step = await slow.next();
        if (step.done === true) break;
        last = step.value.at(-1)!.revision;
        if (last >= made.revision) break;
      }
      expect(last).toBe(made.revision);
      expect(proxy.passedBytes() - before).toBeGreaterThan(75_000_000);
      await slow.return?.();
    });
    await proxy.close();
  });

  test('two compactors make one compaction per interval', async () => {
    await withBackend([url()], async (first) => {
      await withBackend([url()], async (second) => {
        await fill(first, 50);
        const compactions: number[] = [];
        const options = (backend: EtcdBackend) => ({
          backend,
          intervalMs: 1_000,
          log: silentLog,
          onCompacted: (revision: number) => void compactions.push(revision),
        });
        let one: CompactionTurn = { version: 0, revision: 0 };
        let two: CompactionTurn = { version: 0, revision: 0 };
        for (let round = 0; round < 4; round++) {
          [one, two] = await Promise.all([
            compactOnce(one, options(first), patience()),
            compactOnce(two, options(second), patience()),
          ]);
        }
        // The first round finds no revision of an interval ago.
        expect(compactions).toHaveLength(3);
        expect(one.version).toBe(two.version);
        const { record } = await first.get(COMPACT_REVISION_KEY, patience());
        expect(record?.value.toString()).toBe(String(compactions.at(-1)));
      });
    });
  });

  test('a running compactor forgets the past and ends with its signal', async () => {
    await withBackend([url()], async (backend) => {
      const newest = await fill(backend, 5);
      const ending = new AbortController();
      const compacted = new Promise<number>((resolve) => {
        const options = { backend, intervalMs: 50, log: silentLog, onCompacted: resolve };
        void runCompactor(options, ending.signal).then(() => resolve(-1));
      });
      expect(await compacted).toBe(newest + 1);
      await expect(backend.list(`${PREFIX}/`, { revision: 2 }, patience())).rejects.toMatchObject({
        code: 'compacted',
      });
      ending.abort();
    });
  });

  test('the status names version and cluster, and a supported version causes no warning', async () => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
    await withBackend(
      [url()],
      async (backend) => {
        const status = await backend.status(patience());
        expect(status.version).toMatch(/^3\.\d+\.\d+/);
        expect(status.clusterId).toMatch(/^[0-9a-f]{8,16}$/);
        await backend.status(patience());
        expect(warnings).toEqual([]);
      },
      { log },
    );
  });

  test('a wrong password and a missing grant for the watch fail with a clear message', async () => {
    await enableAuth(url());
    const root = { username: 'root', password: 'secret' };
    await withBackend(
      [url()],
      async (backend) => {
        const made = await backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
        const seen = await collect(backend, made.revision, made.revision);
        expect(seen).toHaveLength(1);
      },
      root,
    );
    await withBackend(
      [url()],
      async (backend) => {
        const reading = backend.get(`${PREFIX}/a`, patience());
        await expect(reading).rejects.toMatchObject({ code: 'denied' });
        await expect(reading).rejects.toThrow(/password/);
      },
      { username: 'root', password: 'wrong' },
    );
    await withBackend(
      [url()],
      async (backend) => {
        await backend.create(`${PREFIX}/b`, Buffer.from('1'), {}, patience());
        const reading = collect(backend, 2, 3);
        await expect(reading).rejects.toMatchObject({ code: 'denied' });
        await expect(reading).rejects.toThrow(/grant/);
        await expect(backend.get('/elsewhere', patience())).rejects.toMatchObject({ code: 'denied' });
      },
      { username: 'narrow', password: 'narrow' },
    );
  });
});

describe('three etcds', () => {
  test('a member that hangs holds up neither reads nor the calls after a write that it kept', async () => {
    const cluster = await startEtcdCluster({ size: 3, extraArgs: FAST });
    try {
      const leader = await cluster.leader();
      const hanging = cluster.members.find((member) => member !== leader)!;
      const endpoints = [hanging.clientUrl, leader.clientUrl];
      await withBackend(
        endpoints,
        async (backend) => {
          const made = await backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
          await freeze(hanging.pid!);
          const write = backend.update(
            `${PREFIX}/a`,
            Buffer.from('2'),
            { expected: made.revision },
            patience(),
          );
          expect(await backend.currentRevision(patience())).toBe(made.revision);
          await expect(write).rejects.toMatchObject({ code: 'unknown-outcome' });
          const after = await backend.create(`${PREFIX}/b`, Buffer.from('1'), {}, patience());
          expect(after.ok).toBe(true);
        },
        { callTimeoutMs: 10_000 },
      );
    } finally {
      for (const { pid } of cluster.members) if (pid !== undefined) process.kill(pid, 'SIGCONT');
      await cluster.stop();
    }
  });

  test('reads, writes and the watch move to another endpoint when the leader is killed', async () => {
    const cluster = await startEtcdCluster({ size: 3 });
    try {
      const leader = await cluster.leader();
      const others = cluster.endpoints.filter((endpoint) => endpoint !== leader.clientUrl);
      await withBackend(
        [leader.clientUrl, ...others],
        async (backend) => {
          const first = await fill(backend, 100);
          const reading = collect(backend, 2, first + 1);
          await leader.kill('SIGKILL');
          expect(await backend.currentRevision(patience())).toBe(first);
          const made = await backend.create(`${PREFIX}/after`, Buffer.from('x'), {}, patience());
          expect(made).toEqual({ ok: true, revision: first + 1 });
          expect((await reading).map((each) => each.revision)).toEqual(range(2, first + 1));
        },
        { callTimeoutMs: PATIENCE_MS },
      );
    } finally {
      await cluster.stop();
    }
  });
});

describe('etcd over TLS', () => {
  let folder: string;
  let certificates: TestCertificates;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'orch-etcd-tls-'));
    certificates = await makeCertificates(folder);
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  test('a client that trusts the CA is served, another one fails with the reason', async () => {
    const cluster = await startEtcdCluster({
      size: 1,
      extraArgs: FAST,
      tls: { ...certificates.server, clientCertAuth: false },
    });
    try {
      const { caFile } = certificates.server;
      await withBackend(cluster.endpoints, async (backend) => expectWorking(backend), { caFile });
      await withBackend(cluster.endpoints, async (backend) => {
        const reading = backend.currentRevision(patience());
        await expect(reading).rejects.toMatchObject({ code: 'denied' });
        await expect(reading).rejects.toThrow(/CA file/);
      });
    } finally {
      await cluster.stop();
    }
  });

  test('mutual TLS serves a client of the CA and tells a stranger, and one without a certificate, why not', async () => {
    const cluster = await startEtcdCluster({
      size: 1,
      extraArgs: FAST,
      tls: { ...certificates.server, clientCertAuth: true },
    });
    try {
      const { caFile } = certificates.server;
      await withBackend(cluster.endpoints, async (backend) => expectWorking(backend), {
        caFile,
        ...certificates.client,
      });
      for (const own of [certificates.stranger, {}]) {
        await withBackend(
          cluster.endpoints,
          async (backend) => {
            const write = backend.create(`${PREFIX}/a`, Buffer.from('1'), {}, patience());
            await expect(write).rejects.toMatchObject({ code: 'denied' });
            await expect(write).rejects.toThrow(/client certificate/);
            await expect(collect(backend, 1, 2)).rejects.toMatchObject({ code: 'denied' });
          },
          { caFile, ...own },
        );
      }
    } finally {
      await cluster.stop();
    }
  });
});
