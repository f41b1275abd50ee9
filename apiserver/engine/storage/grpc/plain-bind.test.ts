import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { replaceSlowBind } from './plain-bind';

test('Node 22 and later keep their own bind', () => {
  const own: unknown = Reflect.get(AsyncResource.prototype, 'bind');
  replaceSlowBind('22.0.0');
  expect(Reflect.get(AsyncResource.prototype, 'bind')).toBe(own);
});

describe('on Node 20, a function that is bound to an AsyncResource', () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  function look(this: unknown, ...args: readonly number[]): string {
    seen.push(this, args, storage.getStore());
    return 'answer';
  }

  beforeAll(() => {
    replaceSlowBind('20.0.0');
  });
  beforeEach(() => (seen.length = 0));

  test('has no property asyncResource', () => {
    expect('asyncResource' in new AsyncResource('test').bind(look)).toBe(false);
  });

  test('runs in the async scope of the resource, with the arguments and receiver of the call', () => {
    const bound = storage.run('there', () => new AsyncResource('test').bind(look));
    const caller = { bound };
    expect(storage.run('here', () => caller.bound(1, 2))).toBe('answer');
    expect(seen).toEqual([caller, [1, 2], 'there']);
  });

  test('runs with the receiver it was bound to', () => {
    const owner = { name: 'owner' };
    const bound = storage.run('there', () => {
      const resource: { bind(run: typeof look, thisArg: object): typeof look } = new AsyncResource('test');
      return resource.bind(look, owner);
    });
    expect(bound.call({ name: 'caller' }, 3)).toBe('answer');
    expect(seen).toEqual([owner, [3], 'there']);
  });

  test('is made by AsyncLocalStorage.bind as well', () => {
    const bound = storage.run('there', () => AsyncLocalStorage.bind(look));
    expect(storage.run('here', () => bound(4))).toBe('answer');
    expect(seen).toEqual([undefined, [4], 'there']);
  });
});
