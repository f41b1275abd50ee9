import { Bulkhead, BulkheadFullError } from './bulkhead';

const never = new AbortController().signal;

test('waiting calls continue in order, each when another one leaves', async () => {
  const bulkhead = new Bulkhead({ callsMax: 1, waitingMax: 2 });
  const order: string[] = [];
  await bulkhead.enter(never);
  const waiting = ['a', 'b'].map(async (name) => {
    await bulkhead.enter(never);
    order.push(name);
    bulkhead.leave();
  });
  await expect(bulkhead.enter(never)).rejects.toThrow(BulkheadFullError);
  expect([bulkhead.calls, bulkhead.waiting, order]).toEqual([1, 2, []]);
  bulkhead.leave();
  await Promise.all(waiting);
  expect([bulkhead.calls, bulkhead.waiting, order]).toEqual([0, 0, ['a', 'b']]);
});

test('holders take turns, and a full queue drops the newest call of the one with the most', async () => {
  const bulkhead = new Bulkhead({ callsMax: 1, waitingMax: 3 });
  const order: string[] = [];
  await bulkhead.enter(never, 'a');
  const call = async (holder: string, name: string): Promise<void> => {
    await bulkhead.enter(never, holder);
    order.push(name);
    bulkhead.leave();
  };
  const calls = [call('a', 'a1'), call('a', 'a2'), call('a', 'a3'), call('b', 'b1')];
  await expect(calls[2]).rejects.toThrow(BulkheadFullError);
  await expect(call('a', 'a4')).rejects.toThrow(BulkheadFullError);
  expect(bulkhead.waiting).toBe(3);
  bulkhead.leave();
  await Promise.all([calls[0], calls[1], calls[3]]);
  expect([order, bulkhead.calls, bulkhead.waiting]).toEqual([['a1', 'b1', 'a2'], 0, 0]);
});

test('an aborted call leaves the queue', async () => {
  const bulkhead = new Bulkhead({ callsMax: 1, waitingMax: 1 });
  await bulkhead.enter(never);
  const patience = new AbortController();
  const waiting = bulkhead.enter(patience.signal);
  patience.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(bulkhead.waiting).toBe(0);
  bulkhead.leave();
  expect(bulkhead.calls).toBe(0);
});

test('all waiting calls can be failed', async () => {
  const bulkhead = new Bulkhead({ callsMax: 1, waitingMax: 5 });
  await bulkhead.enter(never);
  const waiting = [bulkhead.enter(never), bulkhead.enter(never)];
  bulkhead.clear(new Error('closed'));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([bulkhead.calls, bulkhead.waiting]).toEqual([1, 0]);
});
