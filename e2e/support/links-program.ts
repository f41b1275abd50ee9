/** A program: TCP links that can be cut, held up and slowed down. See `links.ts` for its messages. */
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { LOOPBACK } from '../../deploy/local/ports';
import type { LinkAnswer, LinkCommand, LinkState } from './links';

const WHOLE: LinkState = { kind: 'whole' };

/** One listening port and its target. */
class Link {
  readonly #targetPort: number;
  readonly #open = new Set<Socket>();
  #state: LinkState = WHOLE;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  /** Resolves to the port. */
  async listen(): Promise<number> {
    const server = createServer((socket) => {
      this.#accept(socket);
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, LOOPBACK, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  set(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state.kind === 'cut') for (const socket of this.#open) socket.resetAndDestroy();
    if (state.kind === 'silent') for (const socket of this.#open) socket.pause();
    if (before.kind === 'silent' && state.kind !== 'silent') for (const socket of this.#open) socket.resume();
  }

  #accept(near: Socket): void {
    if (this.#state.kind === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: this.#targetPort, host: LOOPBACK, noDelay: true });
    near.setNoDelay(true);
    this.#carry(near, far);
    this.#carry(far, near);
  }

  /** One direction. */
  #carry(from: Socket, to: Socket): void {
    const line = new Line(() => (this.#state.kind === 'slow' ? this.#state.delayMs : 0));
    this.#open.add(from);
    from.on('data', (chunk: Buffer) => {
      line.add(() => {
        if (to.destroyed || to.write(chunk)) return;
        from.pause();
        to.once('drain', () => {
          if (this.#state.kind !== 'silent') from.resume();
        });
      });
    });
    from.on('end', () => {
      line.add(() => to.end());
    });
    const drop = (): void => {
      this.#open.delete(from);
      to.destroy();
    };
    from.on('error', drop).on('close', drop);
    if (this.#state.kind === 'silent') from.pause();
  }
}

/** Delays each chunk by the delay of the link at its arrival, and keeps the order. */
class Line {
  readonly #delayMs: () => number;
  readonly #waiting: { readonly dueMs: number; readonly act: () => void }[] = [];

  constructor(delayMs: () => number) {
    this.#delayMs = delayMs;
  }

  add(act: () => void): void {
    const delayMs = this.#delayMs();
    if (delayMs === 0 && this.#waiting.length === 0) {
      act();
      return;
    }
    const dueMs = performance.now() + delayMs;
    this.#waiting.push({ dueMs, act });
    if (this.#waiting.length === 1) this.#wait(dueMs);
  }

  #wait(dueMs: number): void {
    setTimeout(
      () => {
        this.#waiting.shift()?.act();
        const [next] = this.#waiting;
        if (next !== undefined) this.#wait(next.dueMs);
      },
      Math.max(0, dueMs - performance.now()),
    );
  }
}

const links = new Map<string, Link>();

async function obey(command: LinkCommand): Promise<LinkAnswer> {
  if (command.kind === 'open') {
    const link = new Link(command.targetPort);
    links.set(command.name, link);
    return { id: command.id, port: await link.listen() };
  }
  links.get(command.name)?.set(command.state);
  return { id: command.id, port: 0 };
}

process.on('disconnect', () => process.exit(0));
process.on('message', (command: LinkCommand) => {
  obey(command).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
