import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import process from 'node:process';

export const LOOPBACK = '127.0.0.1';

/**
 * Where free ports are looked for: below those from which systems take the ports of outgoing connections (32768 and up on Linux, 49152 and
 * up elsewhere), so that a port that was found free is not taken by a connection before its server starts.
 */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
/** Test workers (JEST_WORKER_ID) look in ports of their own, so that no worker finds a port free which another one is about to use. */
const WORKERS_MAX = 8;

const own = portsOf(process.env['JEST_WORKER_ID']);
/** Each process goes through its ports one after the other, so that it hands none out twice before all others had their turn. */
let next = randomInt(own.first, own.end);

/** A TCP port of the loopback interface that is free now. */
export async function freePort(): Promise<number> {
  for (let tries = own.end - own.first; tries > 0; tries -= 1) {
    const port = next;
    next = port + 1 < own.end ? port + 1 : own.first;
    if (await isPortFree(port)) return port;
  }
  throw new Error(
    `No free TCP port on the loopback interface from ${String(own.first)} to ${String(own.end)}.`,
  );
}

/** As many free ports as asked for, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** Listens for a moment; false when the port is taken (or not ours to take). */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, LOOPBACK, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** The ports that a process hands out, from `first` to before `end`: all where it is no test worker, else those of its number alone. */
export function portsOf(workerId: string | undefined): { readonly first: number; readonly end: number } {
  if (workerId === undefined) return { first: FIRST_PORT, end: END_PORT };
  const share = (END_PORT - FIRST_PORT) / WORKERS_MAX;
  const first = FIRST_PORT + (Number(workerId) % WORKERS_MAX) * share;
  return { first, end: first + share };
}
