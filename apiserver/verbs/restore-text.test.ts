import { A_MAP } from '../../shared/schema/plan';
import { goDocument, restoreText } from './restore-text';

test.each([
  [A_MAP, 'a', 'cannot restore map from string'],
  ['an object', [], 'cannot restore struct from: slice'],
  ['a list', {}, 'cannot restore slice from map'],
  ['a string', 5, 'cannot convert int64 to string'],
  ['a string', 5.5, 'unrecognized type: string'],
  ['a string', true, 'unrecognized type: string'],
  ['a boolean', 'x', 'unrecognized type: bool'],
  ['an integer of 32 bits', 1.5, 'cannot convert float64 to int32'],
  ['an integer of 64 bits', 'x', 'unrecognized type: int64'],
  ['a quantity', 'x', undefined],
])('%s that is %j is told in the words of the converter', (wanted, given, text) => {
  expect(restoreText({ wanted, given })).toBe(text);
});

test('a document is shown as Go prints it, with its fields by their names', () => {
  expect(goDocument({ b: [1, 'x', null], a: { c: true, d: 1.5 } })).toBe(
    'map[a:map[c:true d:1.5] b:[1 x <nil>]]',
  );
});
