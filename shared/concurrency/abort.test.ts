import { untilAborted } from './abort';

test("a waiter gets the promise's result and leaves no listener", async () => {
  const { signal } = new AbortController();
  const removed = jest.spyOn(signal, 'removeEventListener');
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(removed).toHaveBeenCalledTimes(2);
});

test('an abort comes first, and the later result of the promise is ignored', async () => {
  const unheard: unknown[] = [];
  const note = (error: unknown): void => void unheard.push(error);
  process.on('unhandledRejection', note);
  try {
    const controller = new AbortController();
    let fail = (_error: Error): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const waiting = untilAborted(late, controller.signal);
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    fail(new Error('late'));
    await expect(untilAborted(Promise.reject(new Error('broken')), controller.signal)).rejects.toThrow(
      'gone',
    );
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(unheard).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
