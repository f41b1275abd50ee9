import type { ServerResponse } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import type { Answer, Exchange, MessageFraming } from '../request/exchange';
import type { SlowReaderCause } from '../request/slow-reader-error';
import { SlowReaderError } from '../request/slow-reader-error';
import type { WriterOptions } from './answer-writer';
import type { HeldPart } from './held-bytes';
import { messagesOf } from './messages';
import type { ListenerRequest } from './listener-request';
import { FRAME_PART_BYTES, partsOf } from './write-in-parts';

/** Clients have nothing to send on a watch; their messages are read and discarded. */
const INCOMING_BYTES_MAX = 4_096;
/** Time for a client to answer the close of a finished stream. */
const CLOSE_MS_MAX = 1_000;
const NORMAL_CLOSURE = 1000;
/** A subprotocol that carries a bearer token, in either dialect. It must not be echoed in the answer. */
const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\./;

const handshakes = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: INCOMING_BYTES_MAX,
  handleProtocols: (offered) => [...offered].find((each) => !TOKEN_PROTOCOL.test(each)) ?? false,
});

/** An exchange whose stream is sent over a WebSocket. */
export interface MessageStream {
  readonly request: ListenerRequest;
  /** Holds the connection. */
  readonly response: ServerResponse;
  readonly exchange: Exchange;
  readonly answer: Answer & {
    readonly body: AsyncIterable<Buffer>;
    readonly messages: 'lines' | 'length-prefixed';
  };
}

/** Returns whether an answer can be sent as messages. */
export function isMessageStream(answer: Answer): answer is MessageStream['answer'] {
  return answer.code === 200 && answer.messages !== undefined && !Buffer.isBuffer(answer.body);
}

/**
 * Upgrades the connection to a WebSocket and sends every frame of the answer as one message: text for JSON, binary
 * otherwise. Resolves when the stream has ended or the client has disconnected. A client that reads nothing for
 * `stallMsMax` is disconnected.
 */
export async function writeMessages(
  { request, response, exchange, answer }: MessageStream,
  options: WriterOptions,
): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  const iterator = answer.body[Symbol.asyncIterator]();
  handshakes.handleUpgrade(request, socket, request.upgradeHead, (webSocket) => {
    new Sender(webSocket, exchange, options).run(iterator, answer.messages).catch((error: unknown) => {
      options.log.warn({ id: exchange.id, path: exchange.path, error }, 'streamed response aborted');
      webSocket.terminate();
    });
  });
  // The library answers a failed handshake and closes the connection.
  await new Promise<void>((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', resolve);
  });
  await iterator.return?.();
}

class Sender {
  readonly #webSocket: WebSocket;
  readonly #exchange: Exchange;
  readonly #options: WriterOptions;

  constructor(webSocket: WebSocket, exchange: Exchange, options: WriterOptions) {
    this.#webSocket = webSocket;
    this.#exchange = exchange;
    this.#options = options;
    webSocket.on('error', () => {
      webSocket.terminate();
    });
    webSocket.on('message', (_data: RawData) => undefined);
  }

  async run(frames: AsyncIterator<Buffer>, framing: MessageStream['answer']['messages']): Promise<void> {
    const { signal } = this.#exchange;
    const cut = (): void => {
      this.#webSocket.terminate();
    };
    if (signal.aborted) cut();
    signal.addEventListener('abort', cut);
    try {
      for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
        if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
        await this.#send(step.value, framing);
      }
      this.#close();
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  /**
   * Resolves when all messages are flushed or the connection is closed. It waits after every few messages, and splits
   * a long one into fragments, to observe that the client reads.
   */
  async #send(piece: Buffer, framing: MessageFraming): Promise<void> {
    const messages = messagesOf(piece, framing);
    const binary = framing === 'length-prefixed';
    const { answers } = this.#options.memory;
    const held = answers.hold(this.#exchange.user, {
      bytes: Math.min(piece.length, FRAME_PART_BYTES),
      shared: piece,
      isWatch: true,
      evict: () => {
        this.#disconnect('memory');
      },
    });
    try {
      if (!held.isReleased) await this.#sendFragments(messages.flatMap(fragmentsOf), { binary, held });
    } finally {
      answers.release(held);
    }
  }

  async #sendFragments(
    fragments: ReturnType<typeof fragmentsOf>,
    { binary, held }: { readonly binary: boolean; readonly held: HeldPart },
  ): Promise<void> {
    let waitingBytes = 0;
    for (const [at, { bytes, fin }] of fragments.entries()) {
      waitingBytes += bytes.length;
      const isDue = waitingBytes >= FRAME_PART_BYTES || at === fragments.length - 1;
      if (!isDue) this.#webSocket.send(bytes, { binary, fin });
      else if (await this.#sendOut(bytes, { binary, fin })) waitingBytes = 0;
      else return;
      if (isDue) this.#options.memory.answers.progressed(held);
    }
  }

  /**
   * Resolves with true once this and all earlier fragments are flushed; with false if the connection is closed, or
   * was destroyed because the client does not read.
   */
  async #sendOut(
    bytes: Buffer,
    options: { readonly binary: boolean; readonly fin: boolean },
  ): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      const stalled = setTimeout(() => {
        this.#disconnect('stalled');
      }, this.#options.stallMsMax);
      this.#webSocket.send(bytes, options, (error) => {
        clearTimeout(stalled);
        resolve(error === undefined || error === null);
      });
    });
  }

  /** Disconnects a client that does not read. */
  #disconnect(cause: SlowReaderCause): void {
    this.#options.counts.slowReaders += 1;
    this.#exchange.abort(new SlowReaderError(cause));
    this.#webSocket.terminate();
  }

  #close(): void {
    this.#webSocket.close(NORMAL_CLOSURE);
    setTimeout(() => {
      this.#webSocket.terminate();
    }, CLOSE_MS_MAX).unref();
  }
}

interface Fragment {
  readonly bytes: Buffer;
  /** The last fragment of its message. */
  readonly fin: boolean;
}

function fragmentsOf(message: Buffer): Fragment[] {
  return [...partsOf(message, FRAME_PART_BYTES)].map((bytes, at, { length }) => ({
    bytes,
    fin: at === length - 1,
  }));
}
