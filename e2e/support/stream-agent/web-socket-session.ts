import { PassThrough, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';

/** The supported subprotocols, best first. */
export const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const CLOSE_CHANNEL = 255;

/** The channels of a WebSocket: each message begins with the number of its channel. */
export class Channels {
  readonly #socket: WebSocket;
  readonly #incoming = new Map<number, PassThrough>();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: RawData) => this.#take(Buffer.from(data as Buffer)));
    socket.on('close', () => {
      for (const stream of this.#incoming.values()) stream.destroy();
    });
    socket.on('error', () => socket.terminate());
  }

  /** The data of the client on a channel. */
  incoming(channel: number): PassThrough {
    const known = this.#incoming.get(channel);
    if (known !== undefined) return known;
    const made = new PassThrough();
    made.on('error', () => undefined);
    this.#incoming.set(channel, made);
    return made;
  }

  outgoing(channel: number): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        this.#socket.send(Buffer.concat([Buffer.from([channel]), chunk]), { binary: true }, () => callback());
      },
    });
  }

  close(): void {
    this.#socket.close(1000);
  }

  #take(message: Buffer): void {
    const [channel = 0, second = 0] = message;
    if (channel === CLOSE_CHANNEL) this.incoming(second).end();
    else this.incoming(channel).write(message.subarray(1));
  }
}

export function channelServer(): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => CHANNEL_PROTOCOLS.find((each) => offered.has(each)) ?? false,
  });
}
