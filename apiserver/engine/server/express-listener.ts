import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import express from 'express';
import type { WireRequest } from './wire';

/** Answers one request. Never throws. */
export type RequestHandler = (request: ListenerRequest, response: ServerResponse) => void;

/** A request as the server makes it. */
export class ListenerRequest extends IncomingMessage implements WireRequest {
  /** Set by Node, for the first time before fields have their values. */
  declare _asksToUpgrade: boolean | null;
  /** True when the client waits for `100 Continue` before it sends the body. */
  expectsContinue = false;
  /** What arrived after the head of a request to upgrade. */
  upgradeHead: Buffer = NOTHING;

  get content(): Readable {
    return this;
  }

  /**
   * What Node asks once it has the head: it hands over the connection and parses nothing more of it if this is true. So that it does for a
   * request to upgrade, and for the next one on a connection of which nothing more is wanted.
   */
  get upgrade(): boolean | null {
    return unwanted.has(this.socket) ? true : this._asksToUpgrade;
  }

  set upgrade(asks: boolean | null) {
    this._asksToUpgrade = asks;
  }
}

const NOTHING = Buffer.alloc(0);

/** Connections of which nothing more is parsed. */
const unwanted = new WeakSet<Socket>();

/** No request of this connection is looked at any more, also of those that were read already: the next one comes as one to upgrade. */
export function parseNoMore(socket: Socket): void {
  unwanted.add(socket);
}

export interface ExpressListener {
  /** To be called for every request, with instances of the two classes. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  readonly Request: typeof ListenerRequest;
  readonly Response: typeof ServerResponse<ListenerRequest>;
}

/**
 * Express as the listener: one application, in whose router's place stands the handler, as there is nothing to route. Express sets the
 * prototype of every request and response to its own, which makes V8 give up its fast paths for them; so the server makes instances of
 * classes whose prototypes carry Express's methods from the start, and there is nothing left to set. The classes belong to one application,
 * as its prototypes do.
 */
export function createExpressListener(handle: RequestHandler): ExpressListener {
  class Request extends ListenerRequest {}
  class Response extends ServerResponse<ListenerRequest> {}
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  Object.defineProperties(Request.prototype, {
    ...Object.getOwnPropertyDescriptors(express.request),
    app: { value: app },
  });
  Object.defineProperties(Response.prototype, {
    ...Object.getOwnPropertyDescriptors(express.response),
    app: { value: app },
    // Express gives each response a dictionary of its own where it finds none.
    locals: { value: Object.freeze({}) },
  });
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  Object.defineProperty(app, 'router', { value: { handle } });
  return { listener: app, Request, Response };
}
