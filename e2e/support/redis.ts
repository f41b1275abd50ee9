import { LOOPBACK, freePort } from '../../deploy/local/ports';
import type { StartedProcess } from '../../deploy/local/started-process';
import { startProcess } from '../../deploy/local/started-process';
import { eventually } from '../../shared/testing/eventually';
import { connect } from 'node:net';
import { remember } from './workspace';

/** A Redis server without persistence. */
export interface LocalRedis {
  /** `redis://127.0.0.1:6379` */
  readonly url: string;
  process(): StartedProcess;
  /** Kills the server if it runs, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const GRACE_MS = 5_000;

/** Starts a server on a free port, and waits until it accepts connections. */
export async function startRedis(dir: string): Promise<LocalRedis> {
  const port = await freePort();
  const start = async (): Promise<StartedProcess> => {
    const args = ['--port', String(port), '--bind', LOOPBACK, '--save', '', '--dir', dir];
    const program = remember(await startProcess({ name: 'redis', command: 'redis-server', args }));
    await eventually('redis accepts connections', async () => takesConnections(port));
    return program;
  };
  let program = await start();
  const stop = async (): Promise<void> => {
    // A paused process handles no other signal.
    program.signal('SIGKILL');
    await program.stop(GRACE_MS);
  };
  return {
    url: `redis://${LOOPBACK}:${String(port)}`,
    process: () => program,
    async restart() {
      await stop();
      program = await start();
    },
    stop,
  };
}

async function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port });
    const end = (isTaken: boolean): void => {
      socket.destroy();
      resolve(isTaken);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
