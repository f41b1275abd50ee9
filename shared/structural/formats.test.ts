import { hasFormat, normalFormat } from './formats';

test.each<[string, readonly string[], readonly string[]]>([
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'x']],
  [
    'uri',
    ['http://a.b/c?d#e', '/a', 'mailto:x@y', 'https://[::1]:80/', 'http://user:pw@h/', '*', 'a:b'],
    ['', 'a b', 'rel/path', 'http://a:x/', 'http://a b/', '/%zz', ':x'],
  ],
  [
    'email',
    ['a@b', 'a.b+c@d.example', '"a b"@c', 'A B <a@b>', '<a@b>'],
    ['', 'a', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b,c@d', 'a..b@c'],
  ],
  [
    'hostname',
    ['a', 'a-b.c1.example', '1.example', 'bücher.example'],
    ['', '-a', 'a..b', 'a_b', 'a.b', `${'a'.repeat(64)}.com`, 'a.com.'],
  ],
  ['ipv4', ['1.2.3.4', '001.2.3.4', '::ffff:1.2.3.4'], ['1.2.3', '1.2.3.256', '::1', '']],
  ['ipv6', ['::1', 'fe80::1', '::ffff:1.2.3.4'], ['1.2.3.4', 'fe80::1%eth0', ':::']],
  ['cidr', ['10.0.0.0/8', '::/0', '1.2.3.4/32'], ['10.0.0.0', '10.0.0.0/33', '::/129', '/8', '1.2.3.4/8/8']],
  [
    'mac',
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef'],
    ['01:23:45:67:89', '01:23-45:67:89:ab', '0123456789ab'],
  ],
  [
    'uuid',
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    ['123e4567-e89b-12d3-a456', ''],
  ],
  ['uuid3', ['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
  ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-0456-426614174000']],
  ['uuid5', ['123e4567-e89b-52d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044', '']],
  ['isbn10', ['0321751043', '0-321-75104-3', '080442957X'], ['978-0321751041', '0321751040']],
  ['isbn13', ['978-0321751041'], ['978-0321751040', '0321751043']],
  ['creditcard', ['4111-1111-1111-1111', '378282246310005'], ['4111-1111-1111-1112', '1234']],
  ['ssn', ['111-11-1111', '111 11 1111'], ['11111111', '111-111111', '']],
  ['hexcolor', ['#FFFFFF', 'abc'], ['#FFFF', '#ggg']],
  ['rgbcolor', ['rgb(1, 2,255)'], ['rgb(1,2)', 'rgb(1,2,256)', 'rgb(01,2,3)']],
  ['byte', ['YQ==', 'YWJj'], ['', 'YQ', 'Y*==', 'YQ==YQ==']],
  ['password', ['', 'x'], []],
  [
    'date',
    ['2020-02-29', '1999-12-31'],
    ['2019-02-29', '2020-13-01', '2020-1-1', '2020-01-01T00:00:00Z', '2020-00-10', ''],
  ],
  [
    'date-time',
    ['2020-02-29T10:11:12Z', '2020-01-01t00:00:00.5+01:00'],
    ['2020-01-01', '2020-01-01T24:00:00Z', '2020-01-01T00:00:00', ''],
  ],
  [
    'k8s-short-name',
    ['a', 'a-b', '0', 'a'.repeat(63)],
    ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', 'a'.repeat(64)],
  ],
  ['k8s-long-name', ['a', 'a.b-c.0', 'a'.repeat(253)], ['', 'a.', '.a', 'a..b', 'a.B', 'a'.repeat(254)]],
  [
    'duration',
    ['1h30m', '-1.5s', '0', '+5ms', '.5h', '1.s', '1m5ms', '3 days', '2 Weeks', '10µs', '1d', 'about 3h'],
    ['', '5', 'h', '1x', '-', '.', '1.5', '5 -'],
  ],
])('%s', (format, good, bad) => {
  expect(good.filter((text) => !hasFormat(text, format))).toEqual([]);
  expect(bad.filter((text) => hasFormat(text, format))).toEqual([]);
});

test('a format is known for some types only', () => {
  expect(normalFormat('date-time', 'string')).toBe('date-time');
  expect(normalFormat('date', '')).toBe('date');
  expect(normalFormat('date', 'integer', true)).toBe('');
  expect(normalFormat('int32', 'integer')).toBe('int32');
  expect(normalFormat('int32', 'number')).toBe('');
  expect(normalFormat('int32', '')).toBe('');
  expect(normalFormat('int32', 'constructor', true)).toBe('');
  expect(normalFormat('int32', 'string', true)).toBe('');
  expect(normalFormat('double', 'number')).toBe('double');
  expect(normalFormat('k8s-long-name', 'string')).toBe('k8s-long-name');
  expect(normalFormat('semver', 'string')).toBe('');
  expect(normalFormat('semver', '', true)).toBe('semver');
  expect(normalFormat('date', 'array')).toBe('');
});

test('a long row of digits is scanned once', () => {
  // The longest text that is scanned. Without the lookbehind, matching would be quadratic.
  const zeros = '0'.repeat(1_022);
  const fits = (text: string): readonly boolean[] =>
    Array.from({ length: 1_000 }, () => hasFormat(text, 'duration'));
  expect(new Set(fits(`${zeros}11`))).toEqual(new Set([false]));
  expect(new Set(fits(`${zeros}1h`))).toEqual(new Set([true]));
});

test('long texts are checked in linear time', () => {
  const formats = [
    'uri',
    'email',
    'hostname',
    'cidr',
    'mac',
    'isbn',
    'creditcard',
    'rgbcolor',
    'byte',
    'date-time',
    'duration',
  ];
  const texts = [
    'a'.repeat(200_000),
    '1 '.repeat(100_000),
    '"\\'.repeat(100_000),
    'a.'.repeat(100_000),
    '1h'.repeat(100_000),
    ' '.repeat(200_000),
    // Each digit would be tried as the start of a number.
    '1'.repeat(1_000_000),
  ];
  const fits = texts.flatMap((text) =>
    formats.filter((format) => hasFormat(text, format)).map((format) => `${format} ${text.slice(0, 2)}`),
  );
  expect(fits).toEqual(['byte aa', 'byte 1h', 'byte 11']);
});
