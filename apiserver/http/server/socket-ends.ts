import type { Socket } from 'node:net';

/**
 * Tells requests that wait behind others on their connection that it is gone. Node closes the response that has the connection, and none of
 * those that are still to get it.
 */
export class SocketEnds {
  readonly #waiting = new Map<Socket, Set<() => void>>();

  /** Calls back once, when the connection closes. */
  add(socket: Socket, listener: () => void): void {
    const waiting = this.#waiting.get(socket) ?? this.#follow(socket);
    waiting.add(listener);
  }

  delete(socket: Socket, listener: () => void): void {
    this.#waiting.get(socket)?.delete(listener);
  }

  #follow(socket: Socket): Set<() => void> {
    const waiting = new Set<() => void>();
    this.#waiting.set(socket, waiting);
    socket.once('close', () => {
      this.#waiting.delete(socket);
      for (const listener of waiting) listener();
    });
    return waiting;
  }
}
