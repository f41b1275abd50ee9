import { parseAddressRange, parsePortRange } from './value-range';

function addresses(text: string): {
  readonly size: number;
  at(index: number): string;
  indexOf(value: string): number | undefined;
} {
  const parsed = parseAddressRange(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.range;
}

test('a network gives all of its addresses but its own and the broadcast address', () => {
  const range = addresses('10.0.0.0/24');
  expect([range.size, range.at(0), range.at(253)]).toEqual([254, '10.0.0.1', '10.0.0.254']);
  expect(range.indexOf('10.0.0.1')).toBe(0);
  expect(['10.0.0.0', '10.0.0.255', '10.0.1.1', 'fd00::1', 'x'].map((each) => range.indexOf(each))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('host bits of a network are ignored', () => {
  expect(addresses('10.0.0.77/29').at(0)).toBe('10.0.0.73');
});

test('an IPv6 network is written canonically and used up to 65535 addresses', () => {
  const range = addresses('fd00:0:0::/64');
  expect([range.size, range.at(0), range.at(0xffff - 1)]).toEqual([65_535, 'fd00::1', 'fd00::ffff']);
  expect(range.indexOf('fd00:0::10')).toBe(15);
});

test.each([
  '',
  '10.0.0.0',
  '10.0.0.0/33',
  '10.0.0.0/x',
  'a/24',
  '10.0.0.0/24/1',
  '10.0.0.0/8',
  '10.0.0.0/30',
])('the network %j is refused', (text) => {
  expect(parseAddressRange(text).ok).toBe(false);
});

test('ports are an interval, or a first one and how many follow', () => {
  expect(parsePortRange('30000-32767')).toMatchObject({ size: 2768, text: '30000-32767' });
  expect(parsePortRange('30000+100')).toMatchObject({ size: 101, text: '30000-30100' });
  expect(parsePortRange('30000')).toMatchObject({ size: 1 });
  expect(['', '0-1', '2-1', '1-65536', 'a-b', '1-2-3'].map(parsePortRange)).toEqual(Array(6).fill(undefined));
});

test('an address that differs from those of the network further up is none of them', () => {
  const range = addresses('fd00::/64');
  expect(['fd00::1:0:0:1', 'fd01::1', 'fd00::1', 'fd00::1.2.3.4'].map((each) => range.indexOf(each))).toEqual(
    [undefined, undefined, 0, undefined],
  );
  expect(addresses('fd00:0:0:ffff::ff00/120').at(9)).toBe('fd00:0:0:ffff::ff0a');
});
