import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { bindPlainly } from './plain-bind';

describe('a function that is bound to an AsyncResource', () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  function look(this: unknown, ...args: readonly number[]): string {
    seen.push(this, args, storage.getStore());
    return 'answer';
  }

  beforeAll(bindPlainly);
  beforeEach(() => (seen.length = 0));

  test('has no deprecated property', () => {
    expect('asyncResource' in new AsyncResource('test').bind(look)).toBe(false);
  });

  test('runs in the scope of the resource, with what it is called with and on', () => {
    const bound = storage.run('there', () => new AsyncResource('test').bind(look));
    const caller = { bound };
    expect(storage.run('here', () => caller.bound(1, 2))).toBe('answer');
    expect(seen).toEqual([caller, [1, 2], 'there']);
  });

  test('runs on what it was bound to', () => {
    const owner = { name: 'owner' };
    const bound = storage.run('there', () => {
      const resource: { bind(run: typeof look, thisArg: object): typeof look } = new AsyncResource('test');
      return resource.bind(look, owner);
    });
    expect(bound.call({ name: 'caller' }, 3)).toBe('answer');
    expect(seen).toEqual([owner, [3], 'there']);
  });

  test('is bound so by the static method and by AsyncLocalStorage, too', () => {
    const bound = storage.run('there', () => AsyncLocalStorage.bind(look));
    expect(storage.run('here', () => bound(4))).toBe('answer');
    expect(seen).toEqual([undefined, [4], 'there']);
  });
});
