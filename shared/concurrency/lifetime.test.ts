import { Lifetime } from './lifetime';

const REASON = new Error('enough');

test('listeners are told once, in the step of the abort, and find the reason', () => {
  const life = new Lifetime();
  const seen: unknown[] = [];
  life.addEventListener('abort', () => seen.push(life.aborted, life.reason));
  life.abort(REASON);
  life.abort(new Error('again'));
  expect(seen).toEqual([true, REASON]);
});

test('a listener is told once however often it was added, and not after it was removed', () => {
  const life = new Lifetime();
  const twice = jest.fn();
  const removed = jest.fn();
  life.addEventListener('abort', twice);
  life.addEventListener('abort', removed);
  life.addEventListener('abort', twice);
  life.removeEventListener('abort', removed);
  life.removeEventListener('abort', jest.fn());
  life.abort(REASON);
  expect(twice).toHaveBeenCalledTimes(1);
  expect(removed).not.toHaveBeenCalled();
});

test('a listener may remove another one before it is told', () => {
  const life = new Lifetime();
  const second = jest.fn();
  life.addEventListener('abort', () => {
    life.removeEventListener('abort', second);
  });
  life.addEventListener('abort', second);
  life.abort(REASON);
  expect(second).not.toHaveBeenCalled();
});

test('its signal aborts with it, whichever of the two was there first', () => {
  const before = new Lifetime();
  const { signal } = before;
  expect(signal.aborted).toBe(false);
  before.addEventListener('abort', () => {
    expect(signal.aborted).toBe(true);
  });
  before.abort(REASON);
  expect(signal.reason).toBe(REASON);
  expect(before.signal).toBe(signal);

  const after = new Lifetime();
  after.abort(REASON);
  expect(after.signal).toMatchObject({ aborted: true, reason: REASON });
});

test('as with a signal, nobody is told who comes too late', () => {
  const life = new Lifetime();
  life.abort(REASON);
  const late = jest.fn();
  life.addEventListener('abort', late);
  life.abort(REASON);
  expect(late).not.toHaveBeenCalled();
});

test('a signal on which nobody waits can be let go, and another one tells the same', () => {
  const life = new Lifetime();
  const first = life.signal;
  life.releaseSignal();
  const second = life.signal;
  expect(second).not.toBe(first);
  second.addEventListener('abort', () => undefined);
  life.releaseSignal();
  expect(life.signal).toBe(second);
  life.abort(REASON);
  expect(second.reason).toBe(REASON);
  expect(first.aborted).toBe(false);
});
