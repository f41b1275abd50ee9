import { KeyOrder } from './key-order';
import { rankOf } from './object-tree';

test.each([0, 1, 40, 5_000])('in a tree of %i keys the rank equals a linear count', (size) => {
  const order = new KeyOrder();
  const tree = order.createTree<number>();
  const keys = Array.from({ length: size }, (_, at) => `k${String((at * 7919) % size).padStart(5, '0')}`);
  for (const [at, key] of keys.entries()) tree.set(key, at);
  const copy = tree.clone();
  for (const [at, key] of keys.entries()) if (at % 3 === 0) tree.delete(key);
  for (const each of [tree, copy]) {
    const wanted = ['', 'k', 'k00001', 'k00017x', 'k02500', 'k04999', 'l'];
    for (const key of wanted) {
      const counted = [...each.keys()].filter((candidate) => candidate < key).length;
      expect(rankOf(each, key, order.compare)).toBe(counted);
    }
  }
});
