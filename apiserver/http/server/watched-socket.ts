import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/**
 * A connection whose bytes are looked at before they are read. What looks at them, from the byte `from` on, says up to which byte they are read in
 * this turn of the event loop, or undefined, when the connection is to be cut.
 */
export class WatchedSocket extends Duplex {
  readonly #socket: TLSSocket;
  readonly #look: (bytes: Buffer, from: number) => number | undefined;
  /** What has come and belongs to a later turn. */
  #rest: { readonly bytes: Buffer; readonly from: number } | undefined = undefined;

  constructor(socket: TLSSocket, look: (bytes: Buffer, from: number) => number | undefined) {
    super({ readableHighWaterMark: socket.readableHighWaterMark });
    this.#socket = socket;
    this.#look = look;
    socket.on('data', (bytes: Buffer) => {
      this.#pass(bytes, 0);
    });
    socket.on('end', () => {
      this.readRest();
      this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    if (this.#rest === undefined) this.#socket.resume();
  }

  /** Reads what has come in this turn, whatever it is. */
  readRest(): void {
    for (let rest = this.#rest; rest !== undefined; rest = this.#rest) this.#pass(rest.bytes, rest.from);
  }

  #pass(bytes: Buffer, from: number): void {
    this.#rest = undefined;
    if (this.destroyed) return;
    const end = this.#look(bytes, from);
    if (end === undefined) {
      this.destroy();
      return;
    }
    const rest = end < bytes.length ? { bytes, from: end } : undefined;
    this.#rest = rest;
    const wantsMore = this.push(rest === undefined && from === 0 ? bytes : bytes.subarray(from, end));
    if (rest !== undefined) {
      this.#socket.pause();
      setImmediate(() => {
        if (this.#rest === rest) this.#pass(rest.bytes, rest.from);
      });
    } else if (!wantsMore) this.#socket.pause();
    else if (from > 0) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    const socket = this.#socket;
    // Leaves as one record.
    socket.cork();
    for (const [index, { chunk }] of chunks.entries()) {
      if (index === chunks.length - 1) socket.write(chunk, done);
      else socket.write(chunk);
    }
    socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
