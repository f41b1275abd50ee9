import { randomBytes } from 'node:crypto';
import type { WatchOptions } from '../backend';
import type { Suite } from './suite';
import { isFullScale, mustCreate, storageErrorOf } from './suite';
import { isContiguous, linesOf, WatchRecorder } from './watch-recorder';

const WRITERS = 16;
const WRITES_PER_WRITER = isFullScale ? 1000 : 25;
const SLOW_READER_WRITES = isFullScale ? 20_000 : 700;
const LARGE_VALUES = isFullScale ? 64 : 12;
const LARGE_VALUE_BYTES = 1_048_576;

/** Watches while many writers write: joining history and live, slow readers, large events. */
export function describeWatchesUnderLoad(suite: Suite): void {
  const { deadline } = suite;

  /** Writes with all writers at once; tells the lines a watch must show, in order. */
  async function writeMany(
    folder: string,
    count: number,
    onWrite: () => void = () => undefined,
  ): Promise<string[]> {
    const written: { readonly revision: number; readonly line: string }[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        while (next < count) {
          const key = `${folder}${String(next)}`;
          next += 1;
          const revision = await mustCreate(suite, key, key);
          written.push({ revision, line: `${String(revision)} put ${key}=${key} created` });
          onWrite();
        }
      }),
    );
    return written.sort((a, b) => a.revision - b.revision).map(({ line }) => line);
  }

  /** A reader that has seen the first record and takes nothing more until it is released. */
  async function standStill(
    folder: string,
  ): Promise<{ readonly still: WatchRecorder; readonly from: number }> {
    const from = await mustCreate(suite, `${folder}first`, 'x');
    const still = new WatchRecorder(suite.backend(), { from, prefix: folder });
    still.hold();
    await still.reach(from);
    return { still, from };
  }

  test('a watch begun during heavy writing joins history and live without a gap or a duplicate', async () => {
    const folder = suite.folder();
    const from = (await suite.backend().currentRevision(deadline())) + 1;
    const watches: { readonly from: number; readonly recorder: WatchRecorder }[] = [];
    const watch = (options: WatchOptions): void => {
      watches.push({ from: options.from, recorder: new WatchRecorder(suite.backend(), options) });
    };
    let writes = 0;
    const lines = await writeMany(folder, WRITERS * WRITES_PER_WRITER, () => {
      writes += 1;
      if (writes % (WRITES_PER_WRITER * 2) !== 0) return;
      watch({ from, prefix: folder });
      watch({ from: from + writes, prefix: folder });
      watch({ from: from + writes });
      watch({ from });
    });
    const last = revisionOf(lines.at(-1));
    expect(watches.length).toBeGreaterThan(10);
    for (const { from: first, recorder } of watches) {
      if (first > last) continue;
      await recorder.reach(last);
      expect(linesOf(recorder.revisions)).toEqual(lines.filter((line) => revisionOf(line) >= first));
      expect(isContiguous(recorder.revisions)).toBe(true);
    }
    for (const { recorder } of watches) await recorder.stop();
  });

  test('a reader that stalls delays no other reader and loses no event', async () => {
    const folder = suite.folder();
    const { still, from } = await standStill(folder);
    const quick = new WatchRecorder(suite.backend(), { from: from + 1, prefix: folder });
    const lines = await writeMany(folder, SLOW_READER_WRITES);
    const last = revisionOf(lines.at(-1));
    await quick.reach(last);
    expect(still.newest).toBeLessThan(last);
    expect(linesOf(quick.revisions)).toEqual(lines);
    still.release();
    await still.reach(last);
    await Promise.all([quick.stop(), still.stop()]);
    expect(linesOf(still.revisions).slice(1)).toEqual(lines);
  });

  test('a catch-up over many large values loses none of them', async () => {
    const folder = suite.folder();
    const values = Array.from({ length: LARGE_VALUES }, () => randomBytes(LARGE_VALUE_BYTES));
    const from = (await suite.backend().currentRevision(deadline())) + 1;
    let last = 0;
    for (const [at, value] of values.entries())
      last = await mustCreate(suite, `${folder}${String(at)}`, value);
    const recorder = new WatchRecorder(suite.backend(), { from, prefix: folder });
    await recorder.reach(last);
    await recorder.stop();
    const events = recorder.revisions.flatMap((each) => each.events);
    expect(events.map(({ key }) => key)).toEqual(values.map((_, at) => `${folder}${String(at)}`));
    const isSame = events.map((event, at) => event.type === 'put' && values[at]?.equals(event.value));
    expect(isSame.every((each) => each === true)).toBe(true);
  });

  test('a list taken during heavy writing joins a watch from its revision to the final state', async () => {
    const folder = suite.folder();
    const follow = async (): Promise<{ readonly keys: string[]; readonly recorder: WatchRecorder }> => {
      const { records, revision } = await suite.backend().list(folder, {}, deadline());
      const recorder = new WatchRecorder(suite.backend(), { from: revision + 1, prefix: folder });
      return { keys: records.map(({ key }) => key), recorder };
    };
    const following: ReturnType<typeof follow>[] = [];
    let writes = 0;
    const lines = await writeMany(folder, WRITERS * WRITES_PER_WRITER, () => {
      writes += 1;
      if (writes % (WRITES_PER_WRITER * 4) === 0) following.push(follow());
    });
    const followers = await Promise.all(following);
    expect(followers.length).toBeGreaterThan(0);
    const last = await mustCreate(suite, `${folder}last`, 'x');
    for (const { keys, recorder } of followers) {
      await recorder.reach(last);
      await recorder.stop();
      const shown = recorder.revisions.flatMap(({ events }) => events).map(({ key }) => key);
      expect(new Set([...keys, ...shown]).size).toBe(lines.length + 1);
      expect(keys.length + shown.length).toBe(lines.length + 1);
    }
  });

  test('compaction during a stalled watch either keeps it complete or ends it as compacted', async () => {
    const folder = suite.folder();
    const { still } = await standStill(folder);
    const lines = await writeMany(folder, SLOW_READER_WRITES);
    const last = revisionOf(lines.at(-1));
    await suite.backend().compact(last, deadline());
    await storageErrorOf(suite.backend().list(folder, { revision: last - 1 }, deadline()), 'compacted');
    still.release();
    await still.until(() => still.isOver || still.newest >= last, 'its end');
    const shown = linesOf(still.revisions).slice(1);
    expect(shown).toEqual(lines.slice(0, shown.length));
    if (still.newest < last) {
      expect(await still.failure()).toMatchObject({ code: 'compacted', compactRevision: last });
    } else {
      await still.stop();
      expect(shown).toHaveLength(lines.length);
    }
  });
}

/** The revision at the beginning of a line. */
function revisionOf(line = ''): number {
  return Number.parseInt(line, 10);
}
