import { goQuantity } from './quantity-in-go';

const EXACT = 'd:resource.infDecAmount{Dec:(*inf.Dec)(nil)}';
const AMOUNT = 'i:resource.int64Amount';

test.each([
  ['0', `${AMOUNT}{value:0, scale:0}, ${EXACT}, s:"0", Format:"DecimalSI"`],
  ['1500m', `${AMOUNT}{value:1500, scale:-3}, ${EXACT}, s:"1500m", Format:"DecimalSI"`],
  ['-5', `${AMOUNT}{value:-5, scale:0}, ${EXACT}, s:"-5", Format:"DecimalSI"`],
  ['500M', `${AMOUNT}{value:500, scale:6}, ${EXACT}, s:"500M", Format:"DecimalSI"`],
  ['1Gi', `${AMOUNT}{value:1073741824, scale:0}, ${EXACT}, s:"1Gi", Format:"BinarySI"`],
  ['8Gi', `${AMOUNT}{value:8589934592, scale:0}, ${EXACT}, s:"", Format:"BinarySI"`],
  ['1e3', `${AMOUNT}{value:1, scale:3}, ${EXACT}, s:"1e3", Format:"DecimalExponent"`],
  [
    '1234567890123456789',
    `${AMOUNT}{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(0x0)}, s:"", Format:"DecimalSI"`,
  ],
])('the quantity %s is formatted as in v1.21', (text, fields) => {
  expect(String(goQuantity(text))).toBe(`resource.Quantity{${fields}}`);
});

test('an invalid quantity is returned as it is', () => {
  expect(String(goQuantity('many'))).toBe('"many"');
  expect(goQuantity(undefined)).toBeUndefined();
});
