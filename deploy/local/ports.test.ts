import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort, freePorts, isPortFree, LOOPBACK, portsOf } from './ports';

test('ports differ and are below the ephemeral range', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  expect(ports.filter((port) => port < 20_000 || port >= 32_000)).toEqual([]);
});

test('a port in use is not free', async () => {
  const port = await freePort();
  expect(await isPortFree(port)).toBe(true);
  const server = createServer().listen(port, LOOPBACK);
  await once(server, 'listening');
  expect(await isPortFree(port)).toBe(false);
  server.close();
  await once(server, 'close');
  expect(await isPortFree(port)).toBe(true);
});

test('workers use disjoint port ranges', () => {
  const ranges = ['1', '2', '7', '8'].map(portsOf).toSorted((one, other) => one.first - other.first);
  for (const [index, { first }] of ranges.entries())
    expect(first).toBeGreaterThanOrEqual(ranges[index - 1]?.end ?? 20_000);
  expect(portsOf(undefined)).toEqual({ first: 20_000, end: 32_000 });
});
