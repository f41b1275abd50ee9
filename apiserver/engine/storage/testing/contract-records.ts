import { randomBytes } from 'node:crypto';
import type { Suite } from './suite';
import {
  abortedSignal,
  bytes,
  isFullScale,
  mustCreate,
  mustDelete,
  mustUpdate,
  storageErrorOf,
} from './suite';
import { WatchRecorder } from './watch-recorder';

const WRITERS = 16;
const WRITES_PER_WRITER = isFullScale ? 500 : 25;

/** Single records: compare and swap, revisions, opaque values, expiry, closing. */
export function describeRecords(suite: Suite): void {
  const { deadline } = suite;

  test('every successful write has a higher revision than the one before', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const updated = await mustUpdate(suite, key, created, 'two');
    const deleted = await mustDelete(suite, key, updated);
    const again = await mustCreate(suite, key, 'three');
    const revisions = [created, updated, deleted, again];
    expect(revisions.every(Number.isSafeInteger)).toBe(true);
    expect(revisions.every((revision, at) => revision > (revisions[at - 1] ?? 0))).toBe(true);
  });

  test('a record reads back as of the revision of its last write', async () => {
    const folder = suite.folder();
    const created = await mustCreate(suite, `${folder}a`, 'one');
    const updated = await mustUpdate(suite, `${folder}a`, created, 'two');
    const other = await mustCreate(suite, `${folder}b`, 'other');
    const { record, revision } = await suite.backend().get(`${folder}a`, deadline());
    expect(record).toEqual({ key: `${folder}a`, value: bytes('two'), revision: updated });
    expect(revision).toBeGreaterThanOrEqual(other);
  });

  test('a key that was never written, and one that was deleted, has no record', async () => {
    const folder = suite.folder();
    const created = await mustCreate(suite, `${folder}a`, 'one');
    const deleted = await mustDelete(suite, `${folder}a`, created);
    const gone = await suite.backend().get(`${folder}a`, deadline());
    expect(gone.record).toBeUndefined();
    expect(gone.revision).toBeGreaterThanOrEqual(deleted);
    expect((await suite.backend().get(`${folder}never`, deadline())).record).toBeUndefined();
  });

  test('a create on an existing key changes nothing and shows the current record', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const outcome = await suite.backend().create(key, bytes('two'), {}, deadline());
    const current = { key, value: bytes('one'), revision: created };
    expect(outcome).toEqual({ ok: false, current, revision: expect.any(Number) });
    expect(outcome.revision).toBeGreaterThanOrEqual(created);
    expect((await suite.backend().get(key, deadline())).record).toEqual(current);
  });

  test('an update against a stale revision changes nothing and shows the current record', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const updated = await mustUpdate(suite, key, created, 'two');
    const outcome = await suite.backend().update(key, bytes('three'), { expected: created }, deadline());
    const current = { key, value: bytes('two'), revision: updated };
    expect(outcome).toEqual({ ok: false, current, revision: expect.any(Number) });
    expect(outcome.revision).toBeGreaterThanOrEqual(updated);
    expect((await suite.backend().get(key, deadline())).record).toEqual(current);
  });

  test('a delete against a stale revision changes nothing and shows the current record', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const updated = await mustUpdate(suite, key, created, 'two');
    const outcome = await suite.backend().delete(key, created, deadline());
    const current = { key, value: bytes('two'), revision: updated };
    expect(outcome).toEqual({ ok: false, current, revision: expect.any(Number) });
    expect((await suite.backend().get(key, deadline())).record).toEqual(current);
  });

  test('an update or a delete of a missing key writes nothing and says that there is none', async () => {
    const key = `${suite.folder()}a`;
    const before = await suite.backend().currentRevision(deadline());
    const updated = await suite.backend().update(key, bytes('x'), { expected: before }, deadline());
    const deleted = await suite.backend().delete(key, before, deadline());
    const none = { ok: false, current: undefined, revision: expect.any(Number) };
    expect(updated).toEqual(none);
    expect(deleted).toEqual(none);
    expect(await suite.backend().currentRevision(deadline())).toBe(before);
  });

  test('a record that was deleted and created again refuses the revision of its former life', async () => {
    const key = `${suite.folder()}a`;
    const first = await mustCreate(suite, key, 'one');
    await mustDelete(suite, key, first);
    const second = await mustCreate(suite, key, 'one');
    const outcome = await suite.backend().update(key, bytes('two'), { expected: first }, deadline());
    expect(outcome.ok).toBe(false);
    expect((await suite.backend().get(key, deadline())).record?.revision).toBe(second);
  });

  test('a delete tells the record it removed and its own revision', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const updated = await mustUpdate(suite, key, created, 'two');
    const outcome = await suite.backend().delete(key, updated, deadline());
    expect(outcome).toEqual({
      ok: true,
      revision: expect.any(Number),
      deleted: { key, value: bytes('two'), revision: updated },
    });
    expect(outcome.revision).toBeGreaterThan(updated);
    expect(await suite.backend().currentRevision(deadline())).toBeGreaterThanOrEqual(outcome.revision);
  });

  test('values are opaque bytes: empty, binary and one MiB come back unchanged', async () => {
    const folder = suite.folder();
    const values = {
      empty: Buffer.alloc(0),
      every: Buffer.from(Array.from({ length: 256 }, (_, at) => at)),
      invalid: Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0x00]),
      large: randomBytes(1_048_576),
    };
    const from = await suite.backend().currentRevision(deadline());
    const recorder = new WatchRecorder(suite.backend(), { from: from + 1, prefix: folder });
    let last = 0;
    for (const [name, value] of Object.entries(values)) {
      last = await mustCreate(suite, `${folder}${name}`, value);
    }
    await recorder.reach(last);
    await recorder.stop();
    const events = recorder.revisions.flatMap((each) => each.events);
    const listed = await suite.backend().list(folder, {}, deadline());
    for (const [name, value] of Object.entries(values)) {
      const key = `${folder}${name}`;
      const read = (await suite.backend().get(key, deadline())).record?.value;
      const event = events.find((each) => each.key === key);
      expect(read?.equals(value)).toBe(true);
      expect(listed.records.find((each) => each.key === key)?.value.equals(value)).toBe(true);
      expect(event?.type === 'put' && event.value.equals(value)).toBe(true);
    }
  });

  test('of many creates of one key at once exactly one succeeds, and the others are shown its record', async () => {
    const key = `${suite.folder()}a`;
    const outcomes = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) =>
        suite.backend().create(key, bytes(String(writer)), {}, deadline()),
      ),
    );
    const winners = outcomes.flatMap((outcome, writer) => (outcome.ok ? [{ outcome, writer }] : []));
    expect(winners).toHaveLength(1);
    const current = {
      key,
      value: bytes(String(winners[0]?.writer)),
      revision: winners[0]?.outcome.revision,
    };
    for (const outcome of outcomes) {
      if (!outcome.ok) expect(outcome.current).toEqual(current);
    }
  });

  test('concurrent writers lose no update, and the current revision covers every acknowledged write', async () => {
    const key = `${suite.folder()}counter`;
    await mustCreate(suite, key, '0');
    const seen: number[] = [];
    const increment = async (): Promise<void> => {
      for (;;) {
        const { record } = await suite.backend().get(key, deadline());
        const value = bytes(String(Number(record?.value.toString()) + 1));
        const expected = record?.revision ?? 0;
        const outcome = await suite.backend().update(key, value, { expected }, deadline());
        const current = await suite.backend().currentRevision(deadline());
        expect(current).toBeGreaterThanOrEqual(outcome.revision);
        if (!outcome.ok) continue;
        seen.push(outcome.revision);
        return;
      }
    };
    const rounds = Math.ceil(WRITES_PER_WRITER / 5);
    await Promise.all(
      Array.from({ length: WRITERS / 2 }, async () => {
        for (let round = 0; round < rounds; round += 1) await increment();
      }),
    );
    const total = (WRITERS / 2) * rounds;
    expect((await suite.backend().get(key, deadline())).record?.value.toString()).toBe(String(total));
    expect(new Set(seen).size).toBe(total);
  });

  test('concurrent writes to different keys each take a revision of their own and are all there', async () => {
    const folder = suite.folder();
    const written = new Map<string, number>();
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let at = 0; at < WRITES_PER_WRITER; at += 1) {
          const key = `${folder}${String(writer)}-${String(at)}`;
          written.set(key, await mustCreate(suite, key, key));
        }
      }),
    );
    expect(new Set(written.values()).size).toBe(WRITERS * WRITES_PER_WRITER);
    const listed = await suite.backend().list(folder, {}, deadline());
    expect(new Map(listed.records.map(({ key, revision }) => [key, revision]))).toEqual(written);
  });

  test('an expiry is a delete with a revision and an event of its own', async () => {
    const key = `${suite.folder()}short`;
    const created = await mustCreate(suite, key, 'one', 1);
    const recorder = new WatchRecorder(suite.backend(), {
      from: created + 1,
      prefix: key,
      withPrevious: true,
    });
    await recorder.reach(created + 1);
    await recorder.stop();
    const [expiry] = recorder.revisions;
    expect(expiry?.events).toEqual([
      { type: 'delete', key, previous: { key, value: bytes('one'), revision: created } },
    ]);
    expect(expiry?.revision).toBeGreaterThan(created);
    const { record, revision } = await suite.backend().get(key, deadline());
    expect(record).toBeUndefined();
    expect(revision).toBeGreaterThanOrEqual(expiry?.revision ?? Infinity);
  });

  test('an update without a time to live clears an earlier one', async () => {
    const folder = suite.folder();
    const created = await mustCreate(suite, `${folder}kept`, 'one', 5);
    const updated = await mustUpdate(suite, `${folder}kept`, created, 'two');
    const witness = await mustCreate(suite, `${folder}witness`, 'late', 6);
    const recorder = new WatchRecorder(suite.backend(), { from: updated + 1, prefix: folder });
    await recorder.reach(witness + 1);
    await recorder.stop();
    expect(recorder.revisions.flatMap((each) => each.events).map(({ key }) => key)).toEqual([
      `${folder}witness`,
      `${folder}witness`,
    ]);
    expect((await suite.backend().get(`${folder}kept`, deadline())).record?.revision).toBe(updated);
  });

  test('an update with a time to live lets a lasting record expire', async () => {
    const key = `${suite.folder()}a`;
    const created = await mustCreate(suite, key, 'one');
    const outcome = await suite
      .backend()
      .update(key, bytes('two'), { expected: created, ttlSeconds: 1 }, deadline());
    const recorder = new WatchRecorder(suite.backend(), { from: outcome.revision + 1, prefix: key });
    await recorder.reach(outcome.revision + 1);
    await recorder.stop();
    expect(recorder.revisions[0]?.events).toEqual([{ type: 'delete', key }]);
  });

  test('a call whose signal has aborted rejects and writes nothing', async () => {
    const key = `${suite.folder()}a`;
    const aborted = abortedSignal();
    await expect(suite.backend().create(key, bytes('one'), {}, aborted)).rejects.toThrow();
    await expect(suite.backend().get(key, aborted)).rejects.toThrow();
    expect((await suite.backend().get(key, deadline())).record).toBeUndefined();
  });

  test('closing ends watches without an error, and later calls say that the store is closed', async () => {
    const opened = await suite.setup();
    try {
      const from = (await opened.backend.currentRevision(deadline())) + 1;
      const waiting = new WatchRecorder(opened.backend, { from });
      const created = await opened.backend.create(`${opened.prefix}/a`, bytes('one'), {}, deadline());
      await waiting.reach(created.revision);
      await opened.backend.close();
      await waiting.ended();
      await storageErrorOf(opened.backend.get(`${opened.prefix}/a`, deadline()), 'closed');
      await storageErrorOf(opened.backend.create(`${opened.prefix}/b`, bytes('x'), {}, deadline()), 'closed');
      await opened.backend.close();
    } finally {
      await opened.teardown();
    }
  });
}
