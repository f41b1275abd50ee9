import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import process from 'node:process';

export const LOOPBACK = '127.0.0.1';

/**
 * The range of free ports: below the ephemeral range (32768 and up on Linux, 49152 and up on other systems), so that no outgoing connection takes
 * a free port before its server starts.
 */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
/** Each test worker (JEST_WORKER_ID) has its own range, so that no two workers choose the same port. */
const WORKERS_MAX = 8;

const own = portsOf(process.env['JEST_WORKER_ID']);
/** Each process uses the ports of its range in order, so that none is reused soon. */
let next = randomInt(own.first, own.end);

/** A TCP port that is free now on an IP address, by default the loopback address. */
export async function freePort(address: string = LOOPBACK): Promise<number> {
  for (let tries = own.end - own.first; tries > 0; tries -= 1) {
    const port = next;
    next = port + 1 < own.end ? port + 1 : own.first;
    if (await isPortFree(port, address)) return port;
  }
  throw new Error(`No free TCP port on ${address} from ${String(own.first)} to ${String(own.end)}.`);
}

/** Finds this number of different free ports on an IP address. */
export async function freePorts(count: number, address: string = LOOPBACK): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort(address));
  return ports;
}

/** Listens briefly on an IP address; false if the port is in use or not permitted, or if this machine does not have the address. */
export function isPortFree(port: number, address: string = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, address, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** The port range of a process, from `first` to before `end`: the whole range, or that of a test worker. */
export function portsOf(workerId: string | undefined): { readonly first: number; readonly end: number } {
  if (workerId === undefined) return { first: FIRST_PORT, end: END_PORT };
  const share = (END_PORT - FIRST_PORT) / WORKERS_MAX;
  const first = FIRST_PORT + (Number(workerId) % WORKERS_MAX) * share;
  return { first, end: first + share };
}
