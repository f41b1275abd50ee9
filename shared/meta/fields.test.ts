import * as fc from 'fast-check';
import type { FieldTerm } from './fields';
import { exactField, matchesFields, parseFieldSelector } from './fields';

const FIELDS = new Map([
  ['metadata.name', 'a'],
  ['status.phase', 'Running'],
  ['odd', 'x,y=z\\'],
]);

test.each([
  ['', true],
  ['metadata.name=a', true],
  ['metadata.name==a', true],
  ['metadata.name=b', false],
  ['metadata.name!=b', true],
  ['metadata.name!=a', false],
  ['metadata.name=a,status.phase!=Pending', true],
  ['metadata.name=a,,status.phase=Pending', false],
  ['spec.nodeName=', true],
  ['=', true],
  ['!=', true],
  ['==,metadata.name=b', false],
  ['spec.nodeName!=', false],
  ['odd=x\\,y\\=z\\\\', true],
])('%j matches: %s', (text, holds) => {
  expect(matchesFields(parseFieldSelector(text), FIELDS)).toBe(holds);
});

test.each([
  ['a', "invalid selector: 'a'; can't understand 'a'"],
  ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(message);
});

test('the first operator splits a term', () => {
  expect(parseFieldSelector('a!=b')).toEqual([{ field: 'a', operator: '!=', value: 'b' }]);
  expect(parseFieldSelector('a!b=c')).toEqual([{ field: 'a!b', operator: '=', value: 'c' }]);
});

test('exactField returns the required value', () => {
  const selector = parseFieldSelector('a!=1,b=2');
  expect(exactField(selector, 'b')).toBe('2');
  expect(exactField(selector, 'a')).toBeUndefined();
});

test('any value can be selected with escapes', () => {
  const term: fc.Arbitrary<FieldTerm> = fc.record({
    field: fc.stringMatching(/^[a-z][a-zA-Z.]{0,8}$/),
    operator: fc.constantFrom<FieldTerm['operator']>('=', '!='),
    value: fc.string({ unit: 'binary' }),
  });
  fc.assert(
    fc.property(fc.array(term, { maxLength: 5 }), (terms) => {
      const texts = terms.map(
        ({ field, operator, value }) =>
          `${field}${operator}${value.replace(/[\\,=]/g, (each) => `\\${each}`)}`,
      );
      const read = parseFieldSelector(texts.join(','));
      expect(read).toHaveLength(terms.length);
      expect(read).toEqual(expect.arrayContaining([...terms]));
    }),
  );
});
