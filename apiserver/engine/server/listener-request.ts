import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { WireRequest } from './wire';

/** A request over HTTP/1.1. The server gives this class to Node. */
export class ListenerRequest extends IncomingMessage implements WireRequest {
  /** Set by Node, for the first time before the fields are initialized. */
  declare _asksToUpgrade: boolean | null;
  /** True when the client waits for `100 Continue` before it sends the body. */
  expectsContinue = false;
  /** The bytes received after the headers of an upgrade request. */
  upgradeHead: Buffer = NOTHING;

  get content(): Readable {
    return this;
  }

  /**
   * Node reads this property after the headers. If it is true, Node hands over the connection and stops parsing it: for an upgrade request,
   * and for the next request after `parseNoMore`.
   */
  get upgrade(): boolean | null {
    return unparsed.has(this.socket) ? true : this._asksToUpgrade;
  }

  set upgrade(asks: boolean | null) {
    this._asksToUpgrade = asks;
  }
}

const NOTHING = Buffer.alloc(0);

/** Connections on which no further request is parsed. */
const unparsed = new WeakSet<Socket>();

/** Stops the parsing of requests on this connection, including those already read. Node reports the next one as an upgrade request. */
export function parseNoMore(socket: Socket): void {
  unparsed.add(socket);
}
