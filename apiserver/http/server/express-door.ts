import { IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';

/** Answers one request. Never rejects. */
export type RequestHandler = (request: DoorRequest, response: ServerResponse) => Promise<void>;

/** A request as the server makes it. */
export class DoorRequest extends IncomingMessage {
  /** True when the client waits for `100 Continue` before it sends the body. */
  expectsContinue = false;
  /** What arrived behind the head of a request to upgrade. */
  upgradeHead: Buffer = NOTHING;
  // What Express leaves behind when it has found the way. It would stay with a watch for as long as that is open.
  next: unknown = undefined;
  params: unknown = undefined;
  _parsedUrl: unknown = undefined;

  forgetRouting(): void {
    this.next = undefined;
    this.params = undefined;
    this._parsedUrl = undefined;
  }
}

const NOTHING = Buffer.alloc(0);

export interface ExpressDoor {
  /** To be called for every request, with instances of the two classes. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  readonly Request: typeof DoorRequest;
  readonly Response: typeof ServerResponse<DoorRequest>;
}

/**
 * Express as the door: one application with one catch-all. Express sets the prototype of every request and response to its own,
 * which makes V8 give up its fast paths for them; so the server makes instances of classes whose prototypes carry Express's methods
 * from the start, and there is nothing left to set. The classes belong to one application, as its prototypes do.
 */
export function createExpressDoor(handle: RequestHandler): ExpressDoor {
  class Request extends DoorRequest {}
  class Response extends ServerResponse<DoorRequest> {}
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
  app.use((request, response, next) => {
    if (!(request instanceof DoorRequest)) {
      next();
      return;
    }
    request.forgetRouting();
    void handle(request, response);
  });
  return { listener: app, Request, Response };
}
