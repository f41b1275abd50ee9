import { defined } from './defined';

interface Shape {
  readonly a: number;
  readonly b?: string;
  readonly c?: null;
}

test('fields that are undefined are absent, and all others stay in their order', () => {
  const fields: { b: string | undefined; c: null; d: string | undefined } = { b: undefined, c: null, d: '' };
  const shape: Shape = { a: 1, ...defined(fields) };
  expect(Object.entries(shape)).toEqual([
    ['a', 1],
    ['c', null],
    ['d', ''],
  ]);
});
