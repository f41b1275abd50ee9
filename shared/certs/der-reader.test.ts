import { DER_TAG, DerError, derText, derValues } from './der-reader';

test.each([
  ['a tag alone', '30'],
  ['a length of which bytes are missing', '308201'],
  ['a value that is shorter than its length', '300501'],
  ['a length in more bytes than it needs', '30810100'],
  ['an indefinite length', '308000'],
])('%s is no DER', (_what, hex) => {
  expect(() => derValues(Buffer.from(hex, 'hex'))).toThrow(DerError);
});

test('text of 16-bit characters is read, and refused when it ends within one', () => {
  const value = (hex: string) => ({
    tag: DER_TAG.bmpString,
    content: Buffer.from(hex, 'hex'),
    whole: Buffer.alloc(0),
  });
  expect(derText(value('006100fc'))).toBe('aü');
  expect(() => derText(value('0061fc'))).toThrow(DerError);
});
