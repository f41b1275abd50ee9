import { createServer, type AddressInfo } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** A TCP port of the loopback interface that is free now. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error('No free TCP port on the loopback interface.');
  return port;
}

/** As many different free ports as asked for. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
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
