import { queryOf } from './query-of';

describe('a query', () => {
  test('has its parameters unescaped, each as often as it is there', () => {
    expect([...queryOf('a=%3D%c3%a4&b=1+2&a=')]).toEqual([
      ['a', '=ä'],
      ['b', '1 2'],
      ['a', ''],
    ]);
  });

  test('loses what is escaped wrongly, names as well as values', () => {
    for (const wrong of ['limit=%zz', 'limit=%', 'limit=%4', '%xlimit=1', 'limit=%%41']) {
      expect([...queryOf(`a=b&${wrong}&c=%20`)]).toEqual([
        ['a', 'b'],
        ['c', ' '],
      ]);
    }
  });
});
