import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import type { Body } from '../client';
import { Flunders } from './flunders';
import { DISCOVERY, SAMPLE, sampleSwagger } from './sample-documents';

export interface SampleServerOptions {
  /** The folder of its certificates. */
  readonly dir: string;
  /** The authority of the client certificates of the front proxy. */
  readonly proxyCaFile: string;
  /** The listening address. */
  readonly address: string;
  /** The host names of its certificate. */
  readonly hosts: readonly string[];
}

/** An extension API server: discovery, OpenAPI, and objects that can be listed, watched, created and deleted. */
export interface SampleServer {
  readonly port: number;
  /** PEM in Base64, for an APIService. */
  readonly caBundle: string;
  readonly flunders: Flunders;
  /** The accepted requests, in order. */
  readonly seen: readonly SeenRequest[];
  /** The number of open upgraded connections. */
  upgrades(): number;
  /** Closes all connections and accepts no others. */
  kill(): Promise<void>;
  /** Accepts connections again on the same port, possibly with another OpenAPI description. */
  restart(sizeSays?: string): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export async function startSampleServer(options: SampleServerOptions): Promise<SampleServer> {
  const sample = new Sample(options);
  await sample.restart();
  return sample;
}

class Sample implements SampleServer {
  readonly caBundle: string;
  readonly flunders = new Flunders();
  readonly seen: SeenRequest[] = [];
  readonly #address: string;
  readonly #sockets = new Set<Duplex>();
  readonly #upgraded = new Set<Duplex>();
  readonly #newServer: () => Server;
  #server: Server | undefined;
  #port = 0;
  #sizeSays = 'How long it is.';

  constructor({ dir, proxyCaFile, address, hosts }: SampleServerOptions) {
    const files = ensureServingCertificate({ dir: path.join(dir, 'sample-certs'), hosts });
    this.caBundle = readFileSync(files.caFile).toString('base64');
    this.#address = address;
    this.#newServer = () =>
      createServer({
        cert: readFileSync(files.certFile),
        key: readFileSync(files.keyFile),
        ca: readFileSync(proxyCaFile),
        requestCert: true,
        rejectUnauthorized: false,
      });
  }

  get port(): number {
    return this.#port;
  }

  upgrades(): number {
    return this.#upgraded.size;
  }

  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async restart(sizeSays = this.#sizeSays): Promise<void> {
    this.#sizeSays = sizeSays;
    const server = this.#newServer();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgrade(request, socket, head);
    });
    server.on('connection', (socket: Duplex) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, this.#address);
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Only a client with the certificate of the front proxy may set the user headers. */
  #isTrusted({ socket, method = '', url = '', headers }: IncomingMessage): boolean {
    if (!(socket instanceof TLSSocket) || !socket.authorized || headers['x-remote-user'] === undefined) {
      return false;
    }
    this.seen.push({ method, url, headers });
    return true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://sample');
    if (!this.#isTrusted(request)) {
      say(response, 401, status(401, 'Unauthorized', 'who are you'));
    } else if (pathname === '/openapi/v2') {
      this.#sayOpenApi(request, response);
    } else {
      const document = DISCOVERY.get(pathname);
      if (document !== undefined) say(response, 200, document);
      else await this.#answerResource(request, response, { pathname, searchParams });
    }
  }

  #sayOpenApi({ headers }: IncomingMessage, response: ServerResponse): void {
    const text = JSON.stringify(sampleSwagger(this.#sizeSays));
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`;
    if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-type': 'application/json' }).end(text);
  }

  async #answerResource(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname, searchParams }: { readonly pathname: string; readonly searchParams: URLSearchParams },
  ): Promise<void> {
    const place = PLACE.exec(pathname);
    if (place === null) {
      say(response, 404, status(404, 'NotFound', 'no such path'));
      return;
    }
    const [, namespace = '', name = ''] = place;
    if (request.method === 'GET' && name === '') {
      if (WATCHES.has(searchParams.get('watch') ?? '')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        this.flunders.watch(response, {
          namespace,
          name: /metadata\.name=([^,]*)/u.exec(searchParams.get('fieldSelector') ?? '')?.[1] ?? '',
          from: searchParams.get('resourceVersion') ?? '',
        });
      } else this.#list(response, this.flunders.list(namespace));
    } else if (request.method === 'GET') {
      this.#sayFound(response, name, this.flunders.find(namespace, name));
    } else if (request.method === 'POST') {
      const created = this.flunders.create(namespace, await readJson(request));
      if (created === undefined) say(response, 409, status(409, 'AlreadyExists', 'it is there'));
      else say(response, 201, created);
    } else if (request.method === 'DELETE' && name !== '') {
      this.#sayFound(response, name, this.flunders.delete(namespace, name));
    } else if (request.method === 'DELETE') {
      const deleted = this.flunders.list(namespace);
      for (const { metadata } of deleted) this.flunders.delete(namespace, metadata?.name ?? '');
      this.#list(response, deleted);
    } else say(response, 405, status(405, 'MethodNotAllowed', 'it cannot be'));
  }

  #list(response: ServerResponse, items: readonly Body[]): void {
    const { resourceVersion } = this.flunders;
    say(response, 200, {
      apiVersion: SAMPLE.groupVersion,
      kind: `${SAMPLE.kind}List`,
      metadata: { resourceVersion },
      items,
    });
  }

  #sayFound(response: ServerResponse, name: string, found: Body | undefined): void {
    if (found === undefined) say(response, 404, status(404, 'NotFound', `flunders "${name}" not found`));
    else say(response, 200, found);
  }

  /** Echoes any protocol. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { upgrade = '' } = request.headers;
    if (!this.#isTrusted(request)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    socket.on('error', () => undefined);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
    socket.write(head);
    socket.pipe(socket);
  }
}

const PLACE = new RegExp(
  `^/apis/${SAMPLE.groupVersion}(?:/namespaces/([^/]+))?/${SAMPLE.resource}(?:/([^/]+))?$`,
  'u',
);
const WATCHES: ReadonlySet<string> = new Set(['true', '1']);

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
}

function say(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as Body;
}
