import { sourceIps } from './source-ips';

test.each([
  ['the connection alone', {}, '192.0.2.9', ['192.0.2.9']],
  ['an IPv4 address on an IPv6 socket', {}, '::ffff:192.0.2.9', ['192.0.2.9']],
  ['IPv6', {}, '2001:db8::1', ['2001:db8::1']],
  ['no connection any more', {}, '', []],
  [
    'proxies',
    { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' },
    '192.0.2.9',
    ['192.0.2.1', '192.0.2.2', '192.0.2.9'],
  ],
  [
    'the last proxy on the connection',
    { 'x-forwarded-for': '192.0.2.1,192.0.2.9' },
    '192.0.2.9',
    ['192.0.2.1', '192.0.2.9'],
  ],
  [
    'words among the addresses',
    { 'x-forwarded-for': 'me, 192.0.2.1,' },
    '192.0.2.9',
    ['192.0.2.1', '192.0.2.9'],
  ],
  ['X-Real-Ip', { 'x-real-ip': '192.0.2.3' }, '192.0.2.9', ['192.0.2.3', '192.0.2.9']],
  [
    'X-Real-Ip among the proxies',
    { 'x-forwarded-for': '192.0.2.3, 192.0.2.4', 'x-real-ip': '192.0.2.3' },
    '192.0.2.9',
    ['192.0.2.3', '192.0.2.4', '192.0.2.9'],
  ],
])('%s', (_what, headers, remote, expected) => {
  expect(sourceIps(headers, remote)).toEqual(expected);
});

test('a header of thousands of addresses is cut', () => {
  const header = Array.from({ length: 5_000 }, () => '192.0.2.1').join(',');
  expect(sourceIps({ 'x-forwarded-for': header }, '192.0.2.9').length).toBeLessThan(40);
});
