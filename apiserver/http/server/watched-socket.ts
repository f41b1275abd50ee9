import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** A connection whose bytes are looked at before they are read. What looks at them says whether it goes on. */
export class WatchedSocket extends Duplex {
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket, look: (bytes: Buffer) => boolean) {
    super({ readableHighWaterMark: socket.readableHighWaterMark });
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      if (!look(bytes)) this.destroy();
      else if (!this.push(bytes)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
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
