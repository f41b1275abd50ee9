import { Duplex } from 'node:stream';

/**
 * A connection whose bytes are inspected before they are read. The inspector gets a chunk and a position, and returns
 * the position up to which it is read in this turn of the event loop, or undefined to destroy the connection.
 */
export class WatchedSocket extends Duplex {
  readonly #socket: Duplex;
  readonly #look: (bytes: Buffer, from: number) => number | undefined;
  /** Received bytes that belong to a later turn. */
  #rest: { readonly bytes: Buffer; readonly from: number } | undefined = undefined;
  /** The peer has ended its direction. */
  #hasEnded = false;
  /** All bytes received. */
  #come = 0;
  /** Writes whose completion the session does not know yet; it does not read meanwhile. */
  #writes = 0;
  readonly #readers = new Set<{ readonly until: number; readonly callback: () => void }>();
  #isCheckAwaited = false;

  constructor(socket: Duplex, look: (bytes: Buffer, from: number) => number | undefined) {
    super({ readableHighWaterMark: socket.readableHighWaterMark });
    this.#socket = socket;
    this.#look = look;
    socket.on('data', (bytes: Buffer) => {
      this.#come += bytes.length;
      this.#pass(bytes, 0);
    });
    socket.on('end', () => {
      this.#hasEnded = true;
      if (this.#rest === undefined) this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    if (this.#rest === undefined) this.#socket.resume();
  }

  /**
   * Calls back in a later turn, once all bytes received until now are read. Never, if the connection is destroyed
   * first.
   */
  whenRead(callback: () => void): void {
    this.#readers.add({ until: this.#come, callback });
    this.#awaitCheck();
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
    } else if (this.#hasEnded) this.push(null);
    else if (!wantsMore) this.#socket.pause();
    else if (from > 0) this.#socket.resume();
  }

  #awaitCheck(): void {
    if (this.#isCheckAwaited || this.#readers.size === 0) return;
    this.#isCheckAwaited = true;
    setImmediate(() => {
      this.#isCheckAwaited = false;
      this.#check();
    });
  }

  #check(): void {
    if (this.destroyed || this.writableEnded || this.#writes > 0) return;
    const rest = this.#rest === undefined ? 0 : this.#rest.bytes.length - this.#rest.from;
    const read = this.#come - rest - this.readableLength;
    for (const reader of this.#readers) {
      if (read < reader.until) continue;
      this.#readers.delete(reader);
      reader.callback();
    }
    this.#awaitCheck();
  }

  /** Wraps the callback of a write. */
  #writing(done: (error?: Error | null) => void): (error?: Error | null) => void {
    this.#writes += 1;
    return (error) => {
      done(error);
      // Node notifies the session in the next turn.
      setImmediate(() => {
        this.#writes -= 1;
        this.#awaitCheck();
      });
    };
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, this.#writing(done));
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    const socket = this.#socket;
    const written = this.#writing(done);
    // Corked chunks leave as one TLS record.
    socket.cork();
    for (const [index, { chunk }] of chunks.entries()) {
      if (index === chunks.length - 1) socket.write(chunk, written);
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
