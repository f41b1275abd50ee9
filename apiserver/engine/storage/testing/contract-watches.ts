import { LightSignal } from '../../../../shared/concurrency/light-signal';
import type { Suite } from './suite';
import { abortedSignal, bytes, isFullScale, mustCreate, mustDelete, mustUpdate } from './suite';
import { isContiguous, linesOf, WatchRecorder } from './watch-recorder';

const RESUME_WRITES = isFullScale ? 200 : 30;

/** Watches on a quiet store: order, resuming, prefix, foreign keys, previous records, compaction, ending. */
export function describeWatches(suite: Suite): void {
  const { deadline } = suite;

  /** Some writes of every kind; tells the lines a watch from `from` must show. */
  async function writeLife(folder: string): Promise<{ from: number; last: number; lines: string[] }> {
    const a = await mustCreate(suite, `${folder}a`, 'a1');
    const b = await mustCreate(suite, `${folder}b`, 'b1');
    const a2 = await mustUpdate(suite, `${folder}a`, a, 'a2');
    const gone = await mustDelete(suite, `${folder}b`, b);
    const b2 = await mustCreate(suite, `${folder}b`, 'b2');
    const lines = [
      `${String(a)} put ${folder}a=a1 created`,
      `${String(b)} put ${folder}b=b1 created`,
      `${String(a2)} put ${folder}a=a2`,
      `${String(gone)} delete ${folder}b`,
      `${String(b2)} put ${folder}b=b2 created`,
    ];
    return { from: a, last: b2, lines };
  }

  test('a watch from a past revision shows every event since, in order, and says which puts created a record', async () => {
    const folder = suite.folder();
    const { from, last, lines } = await writeLife(folder);
    const recorder = new WatchRecorder(suite.backend(), { from, prefix: folder });
    await recorder.reach(last);
    await recorder.stop();
    expect(linesOf(recorder.revisions)).toEqual(lines);
  });

  test('a watch from the next revision shows the events as they happen', async () => {
    const folder = suite.folder();
    const from = (await suite.backend().currentRevision(deadline())) + 1;
    const recorder = new WatchRecorder(suite.backend(), { from, prefix: folder });
    const { last, lines } = await writeLife(folder);
    await recorder.reach(last);
    await recorder.stop();
    expect(linesOf(recorder.revisions)).toEqual(lines);
  });

  test('a watch may begin at any revision of the window and shows exactly what came from there on', async () => {
    const folder = suite.folder();
    const lines: { readonly revision: number; readonly line: string }[] = [];
    let revision = 0;
    for (let at = 0; at < RESUME_WRITES; at += 1) {
      const key = `${folder}${String(at % 5)}`;
      const current = (await suite.backend().get(key, deadline())).record;
      const value = String(at);
      revision =
        current === undefined
          ? await mustCreate(suite, key, value)
          : await mustUpdate(suite, key, current.revision, value);
      const created = current === undefined ? ' created' : '';
      lines.push({ revision, line: `${String(revision)} put ${key}=${value}${created}` });
    }
    for (const { revision: from } of lines) {
      const recorder = new WatchRecorder(suite.backend(), { from, prefix: folder });
      await recorder.reach(revision);
      await recorder.stop();
      const expected = lines.filter((each) => each.revision >= from).map(({ line }) => line);
      expect(linesOf(recorder.revisions)).toEqual(expected);
    }
  });

  test('a watch of the whole keyspace shows every revision, and foreign keys as revisions without events', async () => {
    const [folder, foreign] = [suite.folder(), suite.foreignFolder()];
    const first = await mustCreate(suite, `${folder}a`, 'a1');
    const past = await mustCreate(suite, `${foreign}a`, 'x');
    const recorder = new WatchRecorder(suite.backend(), { from: first });
    await recorder.reach(past);
    const live = await mustUpdate(suite, `${foreign}a`, past, 'y');
    const removed = await mustDelete(suite, `${foreign}a`, live);
    const last = await mustUpdate(suite, `${folder}a`, first, 'a2');
    await recorder.reach(last);
    await recorder.stop();
    expect(recorder.revisions[0]?.revision).toBe(first);
    expect(isContiguous(recorder.revisions)).toBe(true);
    const eventsAt = (revision: number): number | undefined =>
      recorder.revisions.find((each) => each.revision === revision)?.events.length;
    expect([first, past, live, removed, last].map(eventsAt)).toEqual([1, 0, 0, 0, 1]);
  });

  test('a watch of a prefix shows only revisions with an event below it', async () => {
    const folder = suite.folder();
    const a = await mustCreate(suite, `${folder}pods/a`, 'a');
    await mustCreate(suite, `${folder}pods`, 'x');
    await mustCreate(suite, `${folder}pods0`, 'x');
    await mustCreate(suite, `${folder}services/a`, 'x');
    await mustCreate(suite, `${suite.foreignFolder()}a`, 'x');
    const b = await mustCreate(suite, `${folder}pods/😀`, 'b');
    const recorder = new WatchRecorder(suite.backend(), { from: a, prefix: `${folder}pods/` });
    await recorder.reach(b);
    await recorder.stop();
    expect(recorder.revisions.map(({ revision, events }) => [revision, events.length])).toEqual([
      [a, 1],
      [b, 1],
    ]);
  });

  test('withPrevious shows the record before each event, in history and live', async () => {
    const folder = suite.folder();
    const history = await writeLife(folder);
    const recorder = new WatchRecorder(suite.backend(), {
      from: history.from,
      prefix: folder,
      withPrevious: true,
    });
    await recorder.reach(history.last);
    const updated = await mustUpdate(suite, `${folder}b`, history.last, 'b3');
    const last = await mustDelete(suite, `${folder}b`, updated);
    await recorder.reach(last);
    await recorder.stop();
    const revisions = recorder.revisions.map(({ revision }) => revision);
    const previous = recorder.revisions.flatMap(({ events }) =>
      events.map((event) =>
        event.previous === undefined
          ? undefined
          : `${event.previous.key}=${event.previous.value.toString()}@${String(revisions.indexOf(event.previous.revision))}`,
      ),
    );
    expect(previous).toEqual([
      undefined,
      undefined,
      `${folder}a=a1@0`,
      `${folder}b=b1@1`,
      undefined,
      `${folder}b=b2@4`,
      `${folder}b=b3@5`,
    ]);
  });

  test('a watch that begins in the future waits and shows nothing below its first revision', async () => {
    const folder = suite.folder();
    const now = await suite.backend().currentRevision(deadline());
    const future = new WatchRecorder(suite.backend(), { from: now + 4, prefix: folder });
    const present = new WatchRecorder(suite.backend(), { from: now + 1, prefix: folder });
    let last = 0;
    for (let at = 0; at < 6; at += 1) last = await mustCreate(suite, `${folder}${String(at)}`, 'x');
    await Promise.all([future.reach(last), present.reach(last)]);
    await Promise.all([future.stop(), present.stop()]);
    expect(linesOf(future.revisions)).toEqual(
      linesOf(present.revisions.filter(({ revision }) => revision >= now + 4)),
    );
    expect(present.revisions.length).toBeGreaterThan(future.revisions.length);
  });

  test('aborting ends a watch without an error: before it began, while it waits, and while its reader is busy', async () => {
    const folder = suite.folder();
    const from = await mustCreate(suite, `${folder}a`, 'a');
    const shown: unknown[] = [];
    for await (const batch of suite.backend().watch({ from, prefix: folder }, abortedSignal())) {
      shown.push(batch);
    }
    expect(shown).toEqual([]);
    const waiting = new WatchRecorder(suite.backend(), { from: from + 1, prefix: folder });
    const busy = new WatchRecorder(suite.backend(), { from, prefix: folder });
    busy.hold();
    await busy.reach(from);
    await waiting.stop();
    await busy.stop();
    expect([waiting.isOver, busy.isOver]).toEqual([true, true]);
  });

  test('a reader that leaves the loop ends its watch', async () => {
    const folder = suite.folder();
    const from = await mustCreate(suite, `${folder}a`, 'a');
    let batches = 0;
    for await (const batch of suite.backend().watch({ from, prefix: folder }, new LightSignal())) {
      batches += batch.length;
      break;
    }
    expect(batches).toBe(1);
  });

  test('a watch from below the compact revision is refused as compacted with the oldest revision', async () => {
    const folder = suite.folder();
    const a = await mustCreate(suite, `${folder}a`, 'a1');
    const a2 = await mustUpdate(suite, `${folder}a`, a, 'a2');
    const a3 = await mustUpdate(suite, `${folder}a`, a2, 'a3');
    await suite.backend().compact(a2, deadline());
    const below = new WatchRecorder(suite.backend(), { from: a, prefix: folder });
    expect(await below.failure()).toMatchObject({
      name: 'StorageError',
      code: 'compacted',
      compactRevision: a2,
    });
    expect(below.revisions).toEqual([]);
    const at = new WatchRecorder(suite.backend(), { from: a2, prefix: folder });
    await at.reach(a3);
    await at.stop();
    expect(at.revisions.map(({ revision }) => revision)).toEqual([a2, a3]);
  });

  test('compaction does not disturb a watch that has read everything', async () => {
    const folder = suite.folder();
    const first = await mustCreate(suite, `${folder}a`, '0');
    const recorder = new WatchRecorder(suite.backend(), { from: first, prefix: folder });
    let last = first;
    const lines = [`${String(first)} put ${folder}a=0 created`];
    for (let at = 1; at <= 5; at += 1) {
      await recorder.reach(last);
      await suite.backend().compact(last, deadline());
      last = await mustUpdate(suite, `${folder}a`, last, String(at));
      lines.push(`${String(last)} put ${folder}a=${String(at)}`);
    }
    await recorder.reach(last);
    await recorder.stop();
    expect(linesOf(recorder.revisions)).toEqual(lines);
  });

  test('a failed compare is no event and takes no revision', async () => {
    const folder = suite.folder();
    const from = await mustCreate(suite, `${folder}a`, 'a');
    await suite.backend().create(`${folder}a`, bytes('b'), {}, deadline());
    await suite.backend().update(`${folder}a`, bytes('b'), { expected: from - 1 }, deadline());
    await suite.backend().delete(`${folder}missing`, from, deadline());
    const last = await mustCreate(suite, `${folder}b`, 'b');
    const recorder = new WatchRecorder(suite.backend(), { from });
    await recorder.reach(last);
    await recorder.stop();
    expect(linesOf(recorder.revisions)).toEqual([
      `${String(from)} put ${folder}a=a created`,
      `${String(last)} put ${folder}b=b created`,
    ]);
  });
}
