import { plainPath } from './plain-path';

const PLAIN = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~';
const escaped = (code: number): string => `%${code.toString(16).padStart(2, '0')}`;

test('only needless percent-encoding is decoded', () => {
  for (let code = 0; code < 256; code += 1) {
    const character = String.fromCodePoint(code);
    for (const each of [escaped(code), escaped(code).toUpperCase()]) {
      expect(plainPath(`/a${each}b`)).toBe(PLAIN.includes(character) ? `/a${character}b` : `/a${each}b`);
    }
  }
});

test.each([
  ['/%68ealthz', '/healthz'],
  ['/%2568ealthz', '/%2568ealthz'],
  ['/%zz', '/%zz'],
  ['/a%2Fb%e2%82%ac', '/a%2Fb%e2%82%ac'],
  ['/%', '/%'],
])('%s is %s', (path, plain) => {
  expect(plainPath(path)).toBe(plain);
});
