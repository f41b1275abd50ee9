import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { allowsOutsideOf, bothAllow, checkedLookup, checkLiteral } from './allowed-addresses';
import { createTransport } from './transport';

const DENIED = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'];

test.each([
  ['169.254.169.254', false],
  ['169.253.255.255', true],
  ['::ffff:169.254.169.254', false],
  ['::ffff:a9fe:a9fe', false],
  ['64:ff9b::a9fe:a9fe', false],
  ['64:ff9b::808:808', true],
  ['64:ff9b:1:a9fe:a9:fe00::', false],
  ['64:ff9b:1:a9:fe:a9fe::', false],
  ['64:ff9b:1::a9:fea9:fe00:0', false],
  ['64:ff9b:1::a9fe:a9fe', false],
  ['64:ff9b:1:808:8:800::', true],
  ['64:ff9b:2::a9fe:a9fe', true],
  ['2002:a9fe:a9fe::1', false],
  ['2002:808:808::a9fe:a9fe', true],
  ['::169.254.169.254', false],
  ['::8.8.8.8', true],
  ['2001:0:a9fe:a9fe::', false],
  ['2001:0:808:808:0:0:5601:5601', false],
  ['2001:0:808:808:0:0:a9fe:a9fe', true],
  ['2001:1::a9fe:a9fe', true],
  ['2001:db8::5efe:a9fe:a9fe', false],
  ['2001:db8::200:5efe:a9fe:a9fe', false],
  ['2001:db8::5efe:808:808', true],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['FEBF::1', false],
  ['fec0::1', true],
  ['fd00:ec2::254', false],
  ['fd00:ec2::253', true],
  ['127.0.0.1', true],
  ['::1', true],
  ['metadata.internal', false],
  ['', false],
])('the address %s is allowed: %s', (address, isAllowed) => {
  expect(allowsOutsideOf(DENIED)(address)).toBe(isAllowed);
});

test('no network denies nothing, and text that is no network is an error', () => {
  expect(allowsOutsideOf([])('169.254.169.254')).toBe(true);
  expect(() => allowsOutsideOf(['169.254.0.0'])).toThrow('CIDR');
});

test('both of two policies must allow an address', () => {
  const [one, other] = [(each: string) => each !== 'a', (each: string) => each !== 'b'];
  expect(['a', 'b', 'c'].map((each) => bothAllow(one, other)?.(each))).toEqual([false, false, true]);
  expect(bothAllow(undefined, other)).toBe(other);
  expect(bothAllow(one, undefined)).toBe(one);
});

test('a lookup returns the addresses that were checked, and none if one is refused', async () => {
  const checked: string[] = [];
  const looked = async (allows: (address: string) => boolean): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => {
      checkedLookup(allows)('localhost', { all: true }, (error, addresses) => {
        if (error === null) resolve(addresses as LookupAddress[]);
        else reject(error);
      });
    });
  const found = await looked((address) => checked.push(address) > 0);
  expect(found.map(({ address }) => address)).toEqual(checked);
  await expect(looked(() => false)).rejects.toThrow('address not allowed');
});

test.each(['http', 'https'])('no connection over %s is opened to a refused address', async (scheme) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (host: string, networks: readonly string[]): Promise<string> => {
    const transport = createTransport({
      server: `${scheme}://${host}:${String(port)}`,
      allows: allowsOutsideOf(networks),
    });
    return transport
      .send({ method: 'GET', path: '/', headers: {} }, { timeoutMs: 60_000 })
      .then(() => 'answered')
      .catch((error: Error) => error.message)
      .finally(() => {
        transport.close();
      });
  };
  try {
    for (const host of ['127.0.0.1', '0x7f000001', '[::ffff:127.0.0.1]', 'localhost'])
      expect(await ask(host, ['127.0.0.0/8', '::1/128'])).toContain('address not allowed');
    expect(connections).toBe(0);
    expect(await ask('127.0.0.1', DENIED)).not.toContain('address not allowed');
    expect(connections).toBeGreaterThan(0);
  } finally {
    server.close();
  }
});

test('names pass the check of literals', () => {
  expect(() => {
    checkLiteral('localhost', () => false);
  }).not.toThrow();
});
