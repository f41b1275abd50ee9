import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** A TCP port of the loopback interface that is free now. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error('No free TCP port on the loopback interface.');
  return port;
}

/** As many free ports as asked for. All of them are held open at once, so that they differ. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}

export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined;
}

/** Listens for a moment; undefined when the port is taken (or not ours to take). */
function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(port, LOOPBACK, () => {
      const { port: actual } = server.address() as AddressInfo;
      server.close(() => {
        resolve(actual);
      });
    });
  });
}
