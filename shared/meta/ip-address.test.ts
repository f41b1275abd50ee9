import * as fc from 'fast-check';
import { isIP } from 'node:net';
import { isSameAddress, parseIpAddress, ipBytes, withoutMapping } from './ip-address';

test.each([
  ['10.1.2.3', '0a010203'],
  ['010.001.000.09', '0a010009'],
  ['::', '00'.repeat(16)],
  ['::1', `${'00'.repeat(15)}01`],
  ['FE80::1%eth0', `fe80${'00'.repeat(13)}01`],
  ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
  ['::1.2.3.4', `${'00'.repeat(12)}01020304`],
  ['::ffff:1.2.3.4', `${'00'.repeat(10)}ffff01020304`],
  ['64:ff9b::010.2.3.4', `0064ff9b${'00'.repeat(8)}0a020304`],
])('%s has the bytes %s', (text, bytes) => {
  expect(ipBytes(text).toString('hex')).toBe(bytes);
});

test('the Node runtime parses every address alike', () => {
  const anything = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((tail) => `::${tail}`),
  );
  fc.assert(
    fc.property(anything, (text) => {
      const url = new URL(isIP(text) === 4 ? `http://${text}` : `http://[${text}]`);
      expect(ipBytes(text)).toEqual(ipBytes(url.hostname.replaceAll(/[[\]]/g, '')));
    }),
  );
});

test('only IPv4-mapped addresses are unmapped', () => {
  const plain = (text: string): string => withoutMapping(parseIpAddress(text)).toString();
  expect(['::ffff:7f00:1', '::7f00:1', '127.0.0.1', 'fd00::1'].map(plain)).toEqual([
    '127.0.0.1',
    '::7f00:1',
    '127.0.0.1',
    'fd00::1',
  ]);
});

test.each([
  ['10.0.0.5', '::ffff:10.0.0.5', true],
  ['::ffff:a00:5', '10.0.0.5', true],
  ['FD00::5', 'fd00:0::5', true],
  ['fd00::5', 'fd00::6', false],
  ['10.0.0.5', '10.0.0.6', false],
  ['localhost', 'localhost', false],
])('%s and %s are the same address: %s', (one, other, isSame) => {
  expect(isSameAddress(one, other)).toBe(isSame);
});
