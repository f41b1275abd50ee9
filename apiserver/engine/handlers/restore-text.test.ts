import { A_MAP } from '../../../shared/schema/plan';
import { A_MICRO_TIME, A_QUANTITY, A_TIME, BASE64_TEXT, INT_OR_STRING } from '../../../shared/schema/scalars';
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
  ['a byte', 'x', undefined],
  [
    A_QUANTITY,
    'x',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [A_TIME, [1], 'json: cannot unmarshal array into Go value of type string'],
  [A_TIME, 'x', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  [
    A_MICRO_TIME,
    '2021-01-01T00:00:00Z',
    'parsing time "2021-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [INT_OR_STRING, true, 'json: cannot unmarshal bool into Go value of type int32'],
  [BASE64_TEXT, '!!', 'error decoding from json: illegal base64 data at input byte 0'],
  [BASE64_TEXT, 5, 'cannot restore slice from int64'],
])('%s that is %j is told in the words of the converter', (wanted, given, text) => {
  expect(restoreText({ wanted, given })).toBe(text);
});

test('a document is shown as Go prints it, with its fields by their names', () => {
  expect(goDocument({ b: [1, 'x', null], a: { c: true, d: 1.5 } })).toBe(
    'map[a:map[c:true d:1.5] b:[1 x <nil>]]',
  );
});
