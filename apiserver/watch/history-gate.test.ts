import { HistoryGate } from './history-gate';

const forever = new AbortController().signal;

test('no more than the bound are inside, and the others come in the order in which they asked', async () => {
  const gate = new HistoryGate(2);
  const order: string[] = [];
  const leave = [await gate.enter(forever), await gate.enter(forever)];
  const third = gate.enter(forever).then((left) => (order.push('third'), left));
  const fourth = gate.enter(forever).then((left) => (order.push('fourth'), left));
  expect(gate.running).toBe(2);
  leave[0]?.();
  leave[0]?.();
  const leaveThird = await third;
  expect(order).toEqual(['third']);
  leaveThird();
  const leaveFourth = await fourth;
  leaveFourth();
  leave[1]?.();
  expect(gate.running).toBe(0);
});

test('one that gives up waiting does not take a place with it', async () => {
  const gate = new HistoryGate(1);
  const leave = await gate.enter(forever);
  const early = new AbortController();
  const late = new AbortController();
  const first = gate.enter(early.signal);
  early.abort(new Error('early'));
  await expect(first).rejects.toThrow('early');
  const second = gate.enter(late.signal);
  leave();
  late.abort(new Error('late'));
  // Either it was admitted before it gave up, or it gave up; in both cases the place is free afterwards.
  await second.then((left) => left()).catch(() => undefined);
  const again = await gate.enter(forever);
  again();
  expect(gate.running).toBe(0);
});
