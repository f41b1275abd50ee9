import {
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import type { Clock } from '../../../../../shared/concurrency/clock';
import { silentLog } from '../../../../../shared/log/log';
import type { Backend, Revision } from '../../backend';
import type { EmbeddedOptions } from './embedded-backend';
import { openEmbeddedBackend } from './embedded-backend';
import { historyMeta } from './loading';
import { compileWriter } from './testing/compiled-program';
import { Writer } from './testing/writer';

const KILLS = process.env['ORCH_E2E_SCALE'] === 'full' ? 25 : 4;
const signal = new AbortController().signal;
let writer: ReturnType<typeof compileWriter>;
let directory: string;
let opened: Backend[] = [];

beforeAll(() => {
  writer = compileWriter();
});
afterAll(() => {
  writer.remove();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'embedded-'));
});
afterEach(async () => {
  for (const backend of opened) await backend.close();
  opened = [];
  rmSync(directory, { recursive: true, force: true });
});

async function open(options: Partial<EmbeddedOptions> = {}): Promise<Backend> {
  const backend = await openEmbeddedBackend({ directory, prefix: '/registry', log: silentLog, ...options });
  opened.push(backend);
  return backend;
}

async function put(
  backend: Backend,
  key: string,
  value: Buffer | string,
  ttlSeconds?: number,
): Promise<number> {
  const { record } = await backend.get(key, signal);
  const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
  const bytes = Buffer.from(value);
  const outcome =
    record === undefined
      ? await backend.create(key, bytes, ttl, signal)
      : await backend.update(key, bytes, { expected: record.revision, ...ttl }, signal);
  if (!outcome.ok) throw new Error(`${key} was changed by another writer`);
  return outcome.revision;
}

async function revisionsFrom(backend: Backend, from: number, withPrevious = false): Promise<Revision[]> {
  const last = await backend.currentRevision(signal);
  const revisions: Revision[] = [];
  if (from > last) return revisions;
  for await (const batch of backend.watch({ from, withPrevious }, signal)) {
    revisions.push(...batch);
    if ((revisions.at(-1)?.revision ?? 0) >= last) break;
  }
  return revisions;
}

/** Modifies the files of a closed store. */
async function edit(change: (database: ClassicLevel<Buffer, Buffer>) => Promise<void>): Promise<void> {
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' };
  const database = new ClassicLevel<Buffer, Buffer>(join(directory, 'records'), encodings);
  await change(database);
  await database.close();
}

/** The rows of one table of a store that is closed. */
async function rowsOf(table: 'l' | 'v'): Promise<number> {
  const database = new ClassicLevel(join(directory, 'records'));
  const end = String.fromCharCode(table.charCodeAt(0) + 1);
  const keys = await database.keys({ gte: table, lt: end }).all();
  await database.close();
  return keys.length;
}

function movableClock(startMs = 1_000_000): Clock & { advance(ms: number): void } {
  let now = startMs;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}

describe('a killed process', () => {
  test('loses no acknowledged write, and its revisions are not used again', async () => {
    let floor = 1;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const process = new Writer(writer.program, directory, 24);
      expect(await process.opened).toBe('open');
      await process.reach(400 + kill * 37);
      await process.kill();

      const backend = await open();
      const shown = new Map(
        (await revisionsFrom(backend, floor + 1)).map(({ revision, events }) => [revision, events[0]]),
      );
      for (const { revision, key, value } of process.acknowledged) {
        const event = shown.get(revision);
        const found = event?.type === 'put' ? event.value.toString() : null;
        expect({ key: event?.key, value: found }).toEqual({ key, value });
        expect(revision).toBeGreaterThan(floor);
      }
      const current = await backend.currentRevision(signal);
      expect(current).toBeGreaterThanOrEqual(Math.max(...process.acknowledged.map((each) => each.revision)));
      floor = current;
      await backend.close();
    }
  });

  test('that was forgetting history leaves a store that opens whole', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const process = new Writer(writer.program, directory, 24, 'compact');
      expect(await process.opened).toBe('open');
      await process.reach(1500 + kill * 137);
      await process.kill();

      const backend = await open();
      // What was written and not acknowledged any more is among the newest revisions, which are all still there.
      const last = await backend.currentRevision(signal);
      const newest = new Map(process.acknowledged.map((write) => [write.key, write]));
      for (const { revision, events } of await revisionsFrom(backend, last - 90)) {
        for (const event of events) {
          const value = event.type === 'put' ? event.value.toString() : null;
          newest.set(event.key, { revision, key: event.key, value });
        }
      }
      const current = new Map((await backend.list('/', {}, signal)).records.map((each) => [each.key, each]));
      for (const { key, revision, value } of newest.values()) {
        const record = current.get(key);
        const expected = value === null ? undefined : { key, revision, value: Buffer.from(value) };
        expect(record).toEqual(expected);
      }
      expect(newest.size).toBeGreaterThan(0);
      await expect(backend.list('/', { revision: 2 }, signal)).rejects.toMatchObject({ code: 'compacted' });
      await backend.close();
    }
  });

  test('leaves a directory that the next process opens at once', async () => {
    const holder = new Writer(writer.program, directory, 0);
    expect(await holder.opened).toBe('open');
    await expect(open()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('only one process at a time may use it') as string,
    });
    await holder.kill();
    const backend = await open();
    expect(await backend.currentRevision(signal)).toBe(1);
  });
});

describe('exclusive use', () => {
  test('a second opening in the same process is refused and does not let another process in', async () => {
    const backend = await open();
    await expect(open()).rejects.toMatchObject({ code: 'unavailable' });
    const other = new Writer(writer.program, directory, 0);
    expect(await other.opened).toBe('unavailable');
    await other.kill();
    await backend.close();
    const next = new Writer(writer.program, directory, 0);
    expect(await next.opened).toBe('open');
    await next.kill();
  });
});

test.each(['/proc/orch-nowhere/data', '/dev/null/data'])(
  'a directory that cannot be made, %s, ends in a message that names it',
  async (nowhere) => {
    const opening = openEmbeddedBackend({ directory: nowhere, prefix: '/registry', log: silentLog });
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' });
    await expect(opening).rejects.toThrow(`cannot open the embedded store in ${nowhere}`);
  },
);

describe('opening again', () => {
  test('keeps the revision, the records, and the whole history with previous records', async () => {
    const before = await open();
    await put(before, '/registry/a', 'a1');
    await put(before, '/registry/b', 'b1');
    const a2 = await put(before, '/registry/a', 'a2');
    await before.delete('/registry/b', 3, signal);
    await put(before, '/registry/😀', '');
    const history = await revisionsFrom(before, 1, true);
    const records = await before.list('/', {}, signal);
    const past = await before.list('/', { revision: 3 }, signal);
    await before.close();

    const after = await open();
    expect(await after.currentRevision(signal)).toBe(6);
    expect(await after.list('/', {}, signal)).toEqual(records);
    expect(await after.list('/', { revision: 3 }, signal)).toEqual(past);
    expect(await revisionsFrom(after, 1, true)).toEqual(history);
    expect(await put(after, '/registry/a', 'a3')).toBe(7);
    const stale = await after.update('/registry/a', Buffer.from('x'), { expected: a2 }, signal);
    expect(stale.ok).toBe(false);
  });

  test('keeps how far history was forgotten', async () => {
    const before = await open();
    for (let at = 0; at < 5; at += 1) await put(before, '/registry/a', String(at));
    await before.compact(4, signal);
    await before.close();
    const after = await open();
    await expect(after.list('/', { revision: 3 }, signal)).rejects.toMatchObject({
      code: 'compacted',
      compactRevision: 4,
    });
    expect((await revisionsFrom(after, 4, true)).map((each) => each.events[0]?.previous?.revision)).toEqual([
      3, 4, 5,
    ]);
  });

  test('keeps times to live: what expired meanwhile is deleted at once, what did not stays until its time', async () => {
    const clock = movableClock();
    const before = await open({ clock });
    await put(before, '/registry/short', 'x', 60);
    const long = await put(before, '/registry/long', 'x', 3600);
    await put(before, '/registry/renewed', 'x', 60);
    await put(before, '/registry/renewed', 'y', 3600);
    await put(before, '/registry/cleared', 'x', 60);
    const last = await put(before, '/registry/cleared', 'y');
    await before.close();
    clock.advance(61_000);

    const after = await open({ clock });
    for await (const [expiry] of after.watch({ from: last + 1 }, signal)) {
      expect(expiry).toEqual({ revision: last + 1, events: [{ type: 'delete', key: '/registry/short' }] });
      break;
    }
    const left = (await after.list('/', {}, signal)).records;
    expect(left.map(({ key }) => key)).toEqual(['/registry/cleared', '/registry/long', '/registry/renewed']);
    expect(left[1]?.revision).toBe(long);
  });

  test('finishes the removal of history that a killed process had promised and not made', async () => {
    const before = await open();
    for (let at = 0; at < 20; at += 1) await put(before, '/registry/a', String(at));
    await before.close();
    await edit(async (database) => database.batch([historyMeta(21, 2)]));
    expect(await rowsOf('v')).toBe(20);
    const after = await open();
    await after.compact(21, signal);
    await after.close();
    // The row at the compaction and the one it replaced.
    expect(await rowsOf('v')).toBe(2);
  });
});

describe('history', () => {
  test('compaction removes the rows of what was replaced and deleted', async () => {
    const backend = await open();
    for (let at = 0; at < 200; at += 1) await put(backend, '/registry/a', Buffer.alloc(10_000, at));
    const b = await put(backend, '/registry/b', 'gone');
    await backend.delete('/registry/b', b, signal);
    const last = await put(backend, '/registry/c', 'kept');
    await backend.compact(last, signal);
    const { records } = await backend.list('/', {}, signal);
    expect(records.map(({ key }) => key)).toEqual(['/registry/a', '/registry/c']);
    await backend.close();
    expect([await rowsOf('l'), await rowsOf('v')]).toEqual([2, 2]);
    expect((await (await open()).list('/', {}, signal)).records).toEqual(records);
  });

  test('what is older than the window is forgotten without being asked, what is younger stays', async () => {
    const clock = movableClock();
    const backend = await open({ clock, historyMs: 60_000 });
    const old = await put(backend, '/registry/a', 'old');
    clock.advance(40_000);
    const young = await put(backend, '/registry/a', 'young');
    clock.advance(40_000);
    await put(backend, '/registry/a', 'new');
    await backend.compact(1, signal);
    expect((await backend.list('/', { revision: young }, signal)).records[0]?.value.toString()).toBe('young');
    expect((await revisionsFrom(backend, old)).length).toBe(3);
    clock.advance(30_000);
    await put(backend, '/registry/a', 'newest');
    await backend.compact(1, signal);
    await expect(revisionsFrom(backend, old)).rejects.toMatchObject({
      code: 'compacted',
      compactRevision: young,
    });
    expect((await revisionsFrom(backend, young)).length).toBe(3);
  });

  test('is bounded in bytes, whatever its age', async () => {
    const historyBytesMax = 200_000;
    const backend = await open({ historyBytesMax });
    let last = 0;
    for (let at = 0; at < 100; at += 1) last = await put(backend, '/registry/a', Buffer.alloc(10_000, at));
    await backend.compact(1, signal);
    await expect(revisionsFrom(backend, 2)).rejects.toMatchObject({ code: 'compacted' });
    expect((await revisionsFrom(backend, last - 10)).length).toBe(11);
    await backend.close();
    const values = await rowsOf('v');
    expect(values).toBeGreaterThan(10);
    expect(values).toBeLessThan(30);
  });
});

describe('limits', () => {
  test('a value over 1.5 MiB is refused as too large, one of exactly that size is stored', async () => {
    const backend = await open();
    const limit = 1.5 * 1024 * 1024;
    await expect(backend.create('/registry/a', Buffer.alloc(limit + 1), {}, signal)).rejects.toMatchObject({
      code: 'too-large',
    });
    expect((await backend.create('/registry/a', Buffer.alloc(limit), {}, signal)).ok).toBe(true);
  });

  test('a write that is aborted before it is made is not made', async () => {
    const backend = await open();
    const controller = new AbortController();
    const first = backend.create('/registry/a', Buffer.from('a'), {}, controller.signal);
    controller.abort(new Error('the caller went away'));
    await expect(first).rejects.toThrow('the caller went away');
    await put(backend, '/registry/b', 'b');
    expect((await backend.list('/', {}, signal)).records.map(({ key }) => key)).toEqual(['/registry/b']);
  });

  test('closing answers the writes that were taken before', async () => {
    const backend = await open();
    const writes = Array.from({ length: 50 }, async (_, at) =>
      backend.create(`/registry/${String(at)}`, Buffer.from('x'), {}, new AbortController().signal),
    );
    await backend.close();
    expect((await Promise.all(writes)).every(({ ok }) => ok)).toBe(true);
    expect((await (await open()).list('/', {}, signal)).records).toHaveLength(50);
  });
});

describe('damage is reported as corrupt', () => {
  const isTable = (name: string): boolean => name.endsWith('.ldb');
  const isLog = (name: string): boolean => name.endsWith('.log');
  const isManifest = (name: string): boolean => name.startsWith('MANIFEST');

  /** A store with its older records in table files and its newest ones in the log file. */
  async function fill(): Promise<void> {
    const first = await open();
    for (let at = 0; at < 100; at += 1) {
      await put(
        first,
        `/registry/${String(at)}`,
        Array.from({ length: 200 }, (_, n) => String(at * n)).join(),
      );
    }
    await first.close();
    const second = await open();
    for (let at = 0; at < 100; at += 1) await put(second, `/registry/${String(at)}`, `second ${String(at)}`);
    await second.close();
  }

  async function readEverything(): Promise<void> {
    const backend = await open();
    await backend.list('/', {}, signal);
    await revisionsFrom(backend, 1, true);
  }

  function filesOf(is: (name: string) => boolean): string[] {
    const names = readdirSync(join(directory, 'records')).filter(is);
    expect(names.length).toBeGreaterThan(0);
    return names.map((name) => join(directory, 'records', name));
  }

  const damages: Record<string, () => void> = {
    'a table file cut in half': () => {
      for (const path of filesOf(isTable)) truncateSync(path, Math.floor(statSync(path).size / 2));
    },
    'a table file with one changed bit': () => {
      for (const path of filesOf(isTable)) changeBit(path, 0.3);
    },
    'a table file that is gone': () => {
      for (const path of filesOf(isTable)) unlinkSync(path);
    },
    'a log file cut in half': () => {
      for (const path of filesOf(isLog)) truncateSync(path, Math.floor(statSync(path).size / 2));
    },
    'a log file that lost its last bytes': () => {
      for (const path of filesOf(isLog)) truncateSync(path, statSync(path).size - 3);
    },
    'a log file with one changed bit': () => {
      for (const path of filesOf(isLog)) changeBit(path, 0.5);
    },
    'a log file that is gone': () => {
      for (const path of filesOf(isLog)) unlinkSync(path);
    },
    'a manifest cut short': () => {
      for (const path of filesOf(isManifest)) truncateSync(path, 10);
    },
    'a CURRENT file that is gone': () => {
      for (const path of filesOf((name) => name === 'CURRENT')) unlinkSync(path);
    },
    'all record files gone': () => {
      rmSync(join(directory, 'records'), { recursive: true });
    },
  };

  test('a store without damage reads back whole', async () => {
    await fill();
    await expect(readEverything()).resolves.toBeUndefined();
  });

  test.each(Object.keys(damages))('%s', async (name) => {
    await fill();
    damages[name]?.();
    await expect(readEverything()).rejects.toMatchObject({ name: 'StorageError', code: 'corrupt' });
  });

  test.each(['l', 'v'])('a row of table %s with a wrong byte, and one that is missing', async (table) => {
    await fill();
    const key = Buffer.alloc(9);
    key.write(table, 0);
    key.writeBigUInt64BE(150n, 1);
    await edit(async (database) => {
      const row = Buffer.from((await database.get(key)) ?? []);
      row.writeUInt8(row.readUInt8(row.length - 1) ^ 1, row.length - 1);
      await database.put(key, row);
    });
    await expect(readEverything()).rejects.toMatchObject({ code: 'corrupt' });
    for (const backend of opened) await backend.close();
    await edit(async (database) => database.del(key));
    await expect(readEverything()).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('a store that stopped without closing and is whole opens without complaint', async () => {
    const process = new Writer(writer.program, directory, 8);
    await process.opened;
    await process.reach(50);
    await process.kill();
    await expect(readEverything()).resolves.toBeUndefined();
  });
});

function changeBit(path: string, where: number): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length * where);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
  writeFileSync(path, bytes);
}
