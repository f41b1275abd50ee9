import { Lane, LaneFullError } from './lane';

const never = new AbortController().signal;

test('those behind the first ones go on in order, each when another one leaves', async () => {
  const lane = new Lane({ callsMax: 1, waitingMax: 2 });
  const order: string[] = [];
  await lane.enter(never);
  const waiting = ['a', 'b'].map(async (name) => {
    await lane.enter(never);
    order.push(name);
    lane.leave();
  });
  await expect(lane.enter(never)).rejects.toThrow(LaneFullError);
  expect([lane.calls, lane.waiting, order]).toEqual([1, 2, []]);
  lane.leave();
  await Promise.all(waiting);
  expect([lane.calls, lane.waiting, order]).toEqual([0, 0, ['a', 'b']]);
});

test('who gives up makes room behind it', async () => {
  const lane = new Lane({ callsMax: 1, waitingMax: 1 });
  await lane.enter(never);
  const patience = new AbortController();
  const waiting = lane.enter(patience.signal);
  patience.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(lane.waiting).toBe(0);
  lane.leave();
  expect(lane.calls).toBe(0);
});

test('all that wait can be sent away', async () => {
  const lane = new Lane({ callsMax: 1, waitingMax: 5 });
  await lane.enter(never);
  const waiting = [lane.enter(never), lane.enter(never)];
  lane.clear(new Error('closed'));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([lane.calls, lane.waiting]).toEqual([1, 0]);
});
