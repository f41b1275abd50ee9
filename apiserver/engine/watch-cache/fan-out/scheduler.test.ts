import { QueueBudget } from './queue-budget';
import { Run } from './run';
import { FlushScheduler, nextDelayMs, nextSliceSize } from './scheduler';

test('an idle server flushes at once; under load the delay is proportional to the busy time, up to the limit', () => {
  const delayMaxMs = 20;
  expect(nextDelayMs({ busyMs: 0, sinceLastMs: Infinity, delayMaxMs })).toBe(0);
  expect(nextDelayMs({ busyMs: 0.2, sinceLastMs: 0, delayMaxMs })).toBe(0);
  expect(nextDelayMs({ busyMs: 40, sinceLastMs: 40, delayMaxMs })).toBe(4);
  expect(nextDelayMs({ busyMs: 40, sinceLastMs: 44, delayMaxMs })).toBe(0);
  expect(nextDelayMs({ busyMs: 1_000, sinceLastMs: 1_000, delayMaxMs })).toBe(20);
});

test('slices shrink when they block the event loop too long, and grow when there is more to do', () => {
  expect(nextSliceSize({ size: 256, busyMs: 50, before: 256 })).toBe(25);
  expect(nextSliceSize({ size: 256, busyMs: 1, before: 256 })).toBe(512);
  expect(nextSliceSize({ size: 3, busyMs: 0, before: 256 })).toBe(256);
  expect(nextSliceSize({ size: 16, busyMs: 1_000, before: 16 })).toBe(16);
});

test('every scheduled target is flushed once, including targets scheduled during a flush', async () => {
  const scheduler = new FlushScheduler({ delayMaxMs: 20 });
  const flushed: string[] = [];
  const late = new Promise<void>((resolve) => {
    const last = { queuedBytes: 0, flush: (): void => resolve(void flushed.push('late')) };
    const again = {
      queuedBytes: 0,
      flush: (): void => {
        flushed.push('first');
        scheduler.schedule(last);
      },
    };
    scheduler.schedule(again);
    scheduler.schedule(again);
  });
  await late;
  expect(flushed).toEqual(['first', 'late']);
});

test('a slice of large frames has few targets', async () => {
  const scheduler = new FlushScheduler({ delayMaxMs: 20 });
  const turns: number[] = [];
  let turn = 0;
  const tick = (): void => {
    turn += 1;
    if (turns.length < 100) setImmediate(tick);
  };
  tick();
  await new Promise<void>((resolve) => {
    for (let at = 0; at < 100; at += 1) {
      scheduler.schedule({
        queuedBytes: 1024 * 1024,
        flush: () => {
          if (turns.push(turn) === 100) resolve();
        },
      });
    }
  });
  // Of the 64 KiB that a connection encrypts of each, 32 make 2 MiB.
  expect(turns.filter((each) => each === turns[0]).length).toBeLessThanOrEqual(33);
});

test('equal sequences of frames share one run and one buffer, different ones do not', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  const empty = Run.createEmpty(new QueueBudget());
  const ab = empty.append(a).append(b);
  expect(empty.append(a).append(b)).toBe(ab);
  const ac = empty.append(a).append(c);
  expect(empty.append(a).append(c)).toBe(ac);
  expect([ab, ac, empty.append(c)].map((run) => run.join().toString())).toEqual(['ab', 'ac', 'c']);
  expect(ab.join()).toBe(ab.join());
  expect(empty.append(a).join()).toBe(a);
  expect([ab.frames, ab.byteLength]).toEqual([2, 2]);
});
