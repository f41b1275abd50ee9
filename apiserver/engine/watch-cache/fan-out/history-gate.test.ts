import { once } from 'node:events';
import { HistoryGate } from './history-gate';

const forever = new AbortController().signal;
const HOUR_MS = 3_600_000;

function gateOf(streamsMax: number, limits: Partial<ConstructorParameters<typeof HistoryGate>[0]> = {}) {
  return new HistoryGate({ streamsMax, turnMsMax: HOUR_MS, pauseMsMax: HOUR_MS, ...limits });
}

test('at most the limit of streams run, and the others are admitted first in, first out', async () => {
  const gate = gateOf(2);
  const order: string[] = [];
  const turns = [await gate.enter(forever), await gate.enter(forever)];
  const third = gate.enter(forever).then((turn) => (order.push('third'), turn));
  const fourth = gate.enter(forever).then((turn) => (order.push('fourth'), turn));
  expect([gate.running, gate.waiting]).toEqual([2, 2]);
  turns[0]?.leave();
  turns[0]?.leave();
  const turnOfThird = await third;
  expect(order).toEqual(['third']);
  turnOfThird.leave();
  const turnOfFourth = await fourth;
  turnOfFourth.leave();
  turns[1]?.leave();
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test('an aborted waiter does not occupy a slot', async () => {
  const gate = gateOf(1);
  const turn = await gate.enter(forever);
  const early = new AbortController();
  const late = new AbortController();
  const first = gate.enter(early.signal);
  early.abort(new Error('early'));
  await expect(first).rejects.toThrow('early');
  const second = gate.enter(late.signal);
  turn.leave();
  late.abort(new Error('late'));
  // It was either admitted before the abort or not; in both cases the slot is free afterwards.
  await second.then((admitted) => admitted.leave()).catch(() => undefined);
  const again = await gate.enter(forever);
  again.leave();
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test('a stream that has read for its time is preempted if another waits, and never otherwise', async () => {
  let now = 0;
  const gate = gateOf(1, { turnMsMax: 5, monotonicMs: () => now });
  const first = await gate.enter(forever);
  now = 100;
  first.pause();
  first.resume();
  expect(first.over.aborted).toBe(false);
  const second = await gate.enter(forever);
  expect(first.over.aborted).toBe(true);
  first.leave();
  expect(gate.running).toBe(1);
  expect(second.over.aborted).toBe(false);
});

test('a stream that has read nothing yet keeps its slot longer, but not forever', async () => {
  let now = 0;
  const gate = gateOf(1, { turnMsMax: 5, monotonicMs: () => now });
  const slow = await gate.enter(forever);
  now = 20;
  const second = gate.enter(forever);
  expect(slow.over.aborted).toBe(false);
  now = 30;
  const third = gate.enter(forever);
  expect(slow.over.aborted).toBe(true);
  (await second).leave();
  (await third).leave();
  expect(gate.running).toBe(0);
});

test('a stream paused for a slow reader is preempted earlier', async () => {
  const gate = gateOf(1, { pauseMsMax: 5 });
  const slow = await gate.enter(forever);
  const next = gate.enter(forever);
  slow.pause();
  await once(slow.over, 'abort');
  const turn = await next;
  const third = gate.enter(forever);
  turn.pause();
  turn.resume();
  expect(turn.over.aborted).toBe(false);
  turn.leave();
  (await third).leave();
  expect(gate.running).toBe(0);
});
