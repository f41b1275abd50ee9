import { Duplex } from 'node:stream';
import type { Deflate, Inflate } from 'node:zlib';
import { constants, createDeflate, createInflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary';

/**
 * SPDY/3 as used by clients of node agents: streams that the client opens, data in both directions, and no flow control, which neither side
 * implements. The only library (spdy-transport 3.0) does not work on Node 20.
 */

/** A stream of a session. */
export interface SessionStream {
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly stream: Duplex;
}

const FRAME_HEAD_BYTES = 8;
const CONTROL = 0x8003;
const TYPE = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;
const FIN = 1;

/** Runs a SPDY server session; calls back for every stream that the client opens. */
export function serveSpdy(socket: Duplex, onStream: (opened: SessionStream) => void): void {
  new Session(socket, onStream).begin();
}

class Session {
  readonly #socket: Duplex;
  readonly #onStream: (opened: SessionStream) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #inflate: Inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  readonly #deflate: Deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  #taken = Buffer.alloc(0);
  /** Decompresses headers and handles frames in order. */
  #turn = Promise.resolve();

  constructor(socket: Duplex, onStream: (opened: SessionStream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
  }

  begin(): void {
    this.#socket.on('data', (piece: Buffer) => this.#take(piece));
    this.#socket.on('end', () => this.#socket.end());
    this.#socket.on('close', () => {
      for (const stream of this.#streams.values()) stream.destroy();
    });
  }

  send(id: number, data: Buffer, isLast: boolean, done: () => void): void {
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(data.length, 4);
    head.writeUInt8(isLast ? FIN : 0, 4);
    this.#socket.write(Buffer.concat([head, data]), done);
  }

  #take(piece: Buffer): void {
    this.#taken = Buffer.concat([this.#taken, piece]);
    while (this.#taken.length >= FRAME_HEAD_BYTES) {
      const length = this.#taken.readUInt32BE(4) & 0xff_ffff;
      if (this.#taken.length < FRAME_HEAD_BYTES + length) return;
      const frame = this.#taken.subarray(0, FRAME_HEAD_BYTES + length);
      this.#taken = this.#taken.subarray(FRAME_HEAD_BYTES + length);
      this.#turn = this.#turn
        .then(async () => this.#handle(frame))
        .catch(() => {
          this.#socket.destroy();
        });
    }
  }

  async #handle(frame: Buffer): Promise<void> {
    const isLast = (frame.readUInt8(4) & FIN) !== 0;
    const body = frame.subarray(FRAME_HEAD_BYTES);
    if (frame.readUInt16BE(0) !== CONTROL) {
      const stream = this.#streams.get(frame.readUInt32BE(0));
      if (body.length > 0) stream?.push(body);
      if (isLast) stream?.push(null);
      return;
    }
    switch (frame.readUInt16BE(2)) {
      case TYPE.synStream:
        await this.#open(body, isLast);
        return;
      case TYPE.rstStream:
        this.#streams.get(body.readUInt32BE(0))?.destroy();
        return;
      case TYPE.ping:
        this.#socket.write(frame);
        return;
      case TYPE.goAway:
        this.#socket.end();
        return;
      default:
    }
  }

  async #open(body: Buffer, isLast: boolean): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fff_ffff;
    const headers = headersIn(await coded(this.#inflate, body.subarray(10)));
    const block = await coded(this.#deflate, Buffer.alloc(4));
    const head = Buffer.alloc(FRAME_HEAD_BYTES + 4);
    head.writeUInt16BE(CONTROL, 0);
    head.writeUInt16BE(TYPE.synReply, 2);
    head.writeUInt32BE(block.length + 4, 4);
    head.writeUInt32BE(id, FRAME_HEAD_BYTES);
    this.#socket.write(Buffer.concat([head, block]));
    const stream = new SpdyStream(this, id);
    this.#streams.set(id, stream);
    stream.on('error', () => undefined);
    stream.once('close', () => this.#streams.delete(id));
    this.#onStream({ headers, stream });
    if (isLast) stream.push(null);
  }
}

class SpdyStream extends Duplex {
  readonly #session: Session;
  readonly #id: number;

  constructor(session: Session, id: number) {
    super();
    this.#session = session;
    this.#id = id;
  }

  // Frames are pushed as they arrive.
  override _read(): void {
    // There is no flow control.
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.#session.send(this.#id, chunk, false, callback);
  }

  override _final(callback: () => void): void {
    this.#session.send(this.#id, Buffer.alloc(0), true, callback);
  }
}

/** The output of the codec for these bytes. */
async function coded(codec: Inflate | Deflate, bytes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const onData = (piece: Buffer): void => {
    pieces.push(piece);
  };
  codec.on('data', onData);
  await new Promise<void>((resolve) => {
    codec.write(bytes, () => codec.flush(constants.Z_SYNC_FLUSH, resolve));
  });
  codec.off('data', onData);
  return Buffer.concat(pieces);
}

/** A count, then names and values, each after its length. */
function headersIn(block: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 4;
  const next = (): string => {
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return block.toString('latin1', at - length, at);
  };
  for (let left = block.readUInt32BE(0); left > 0; left -= 1) {
    const name = next();
    headers.set(name.toLowerCase(), next());
  }
  return headers;
}
