import type { ApiObject } from '../object/object';
import { createStore, keyOfObject } from './store';

const pod = (name: string, node: string): ApiObject => ({ metadata: { namespace: 'ns', name }, node });

test('the key of a namespaced object holds its namespace, that of a cluster-scoped one is its name', () => {
  expect(keyOfObject(pod('a', 'n'))).toBe('ns/a');
  expect(keyOfObject({ metadata: { name: 'n' } })).toBe('n');
});

test('an index follows adds, changes and deletes', () => {
  const store = createStore<ApiObject>({ node: (object) => [String(object['node'])] });
  store.set(pod('a', 'x'));
  store.set(pod('b', 'x'));
  expect(store.byIndex('node', 'x')).toHaveLength(2);
  expect(store.set(pod('a', 'y'))).toEqual(pod('a', 'x'));
  expect(store.byIndex('node', 'x')).toEqual([pod('b', 'x')]);
  expect(store.byIndex('node', 'y')).toEqual([pod('a', 'y')]);
  expect(store.delete('ns/b')).toEqual(pod('b', 'x'));
  expect(store.byIndex('node', 'x')).toEqual([]);
  expect(store.delete('ns/b')).toBeUndefined();
  expect(store.size).toBe(1);
});

test('an index that does not exist is an error', () => {
  expect(() => createStore().byIndex('node', 'x')).toThrow(RangeError);
});
