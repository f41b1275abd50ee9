import { remember } from './remember';

test('the entry that was set longest ago goes first, and one that is set again is new', () => {
  const entries = new Map<string, number>();
  remember(entries, 'a', 1, { max: 2 });
  remember(entries, 'b', 2, { max: 2 });
  remember(entries, 'a', 3, { max: 2 });
  remember(entries, 'c', 4, { max: 2 });
  expect([...entries]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
