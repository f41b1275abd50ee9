import { once } from 'node:events';
import { createReadStream, mkdirSync, readFileSync, watch, writeFileSync, appendFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { externalAddress } from '../../../shared/testing/external-address';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import type { SessionStream } from './spdy-session';
import { serveSpdy } from './spdy-session';
import { endStatus, runCommand } from './commands';
import { channelServer, Channels, CHANNEL_PROTOCOLS } from './web-socket-session';

export interface StreamAgentOptions {
  /** The folder of containers and certificates. */
  readonly dir: string;
  /** The authority of accepted client certificates. */
  readonly clientCaFile: string;
}

/** A received request, for assertions. */
export interface SeenRequest {
  readonly url: string;
  readonly method: string;
  readonly user: string;
  readonly upgrade: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * A fake node agent: exec and attach over SPDY and WebSocket, port-forward over SPDY, logs, and some pages. Commands are local processes in the
 * folder of their container; a client without a certificate of the authority gets 401.
 */
export interface StreamAgent {
  readonly port: number;
  readonly caFile: string;
  readonly seen: SeenRequest[];
  /** The number of open connections. */
  connections(): number;
  /** The folder of a container. */
  folder(namespace: string, pod: string, container: string): string;
  /** Adds a line to the log of a container. */
  say(namespace: string, pod: string, container: string, line: string): void;
  stop(): Promise<void>;
}

export async function startStreamAgent(options: StreamAgentOptions): Promise<StreamAgent> {
  const agent = new Agent(options);
  await agent.listen();
  return agent;
}

/** Where agents listen: proxies of nodes refuse loopback addresses. */
export const AGENT_ADDRESS = externalAddress ?? '127.0.0.1';

const UNAUTHORIZED = 401;
const LOG = 'log.txt';

/** `/exec/{namespace}/{pod}/{container}`. */
interface Place {
  readonly verb: string;
  readonly folder: string;
  readonly query: URLSearchParams;
}

class Agent implements StreamAgent {
  readonly caFile: string;
  readonly seen: SeenRequest[] = [];
  readonly #dir: string;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #webSockets = channelServer();

  constructor({ dir, clientCaFile }: StreamAgentOptions) {
    this.#dir = dir;
    const files = ensureServingCertificate({ dir: path.join(dir, 'agent-certs'), hosts: [AGENT_ADDRESS] });
    this.caFile = files.caFile;
    this.#server = createServer(
      {
        cert: readFileSync(files.certFile),
        key: readFileSync(files.keyFile),
        ca: readFileSync(clientCaFile),
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => this.#answer(request, response),
    );
    this.#server.on('connection', (socket: Duplex) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, AGENT_ADDRESS);
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  connections(): number {
    return this.#sockets.size;
  }

  folder(namespace: string, pod: string, container: string): string {
    const folder = path.join(this.#dir, 'containers', namespace, pod, container);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  say(namespace: string, pod: string, container: string, line: string): void {
    appendFileSync(path.join(this.folder(namespace, pod, container), LOG), `${line}\n`);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #note(request: IncomingMessage): boolean {
    const { url = '', method = '', headers, socket } = request;
    const isKnown = socket instanceof TLSSocket && socket.authorized;
    const user = isKnown ? String(socket.getPeerCertificate().subject.CN) : '';
    this.seen.push({ url, method, user, upgrade: headers.upgrade ?? '', headers });
    return isKnown;
  }

  #placeOf(request: IncomingMessage): Place {
    const url = new URL(request.url ?? '/', 'https://agent');
    const [verb = '', namespace = '', pod = '', container = ''] = url.pathname.split('/').slice(1);
    return { verb, folder: this.folder(namespace, pod, container), query: url.searchParams };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#note(request)) {
      response.writeHead(UNAUTHORIZED).end('Unauthorized');
      return;
    }
    const { pathname } = new URL(request.url ?? '/', 'https://agent');
    if (pathname.startsWith('/containerLogs/')) this.#log(this.#placeOf(request), response);
    else if (pathname === '/page') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<a href="/other">there</a><a href="near">near</a><a href="https://example.com/">far</a>');
    } else if (pathname === '/moved') response.writeHead(302, { location: '/page' }).end();
    else if (pathname === '/echo') {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'x-method': request.method ?? '',
      });
      request.pipe(response);
    } else response.writeHead(404).end('no such page');
  }

  #log({ folder, query }: Place, response: ServerResponse): void {
    const file = path.join(folder, query.get('previous') === 'true' ? `previous-${LOG}` : LOG);
    writeFileSync(file, '', { flag: 'a' });
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const tail = query.get('tailLines');
    const shown = tail === null ? lines : lines.slice(Math.max(0, lines.length - Number(tail)));
    const stamped =
      query.get('timestamps') === 'true' ? shown.map((line) => `2021-04-08T00:00:00Z ${line}`) : shown;
    const limit = query.get('limitBytes');
    const text = stamped.map((line) => `${line}\n`).join('');
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write(limit === null ? text : text.slice(0, Number(limit)));
    if (query.get('follow') !== 'true') {
      response.end();
      return;
    }
    let at = Buffer.byteLength(readFileSync(file));
    const watcher = watch(file, () => {
      const now = readFileSync(file);
      if (now.length <= at) return;
      createReadStream(file, { start: at, end: now.length - 1 }).on('data', (piece) => response.write(piece));
      at = now.length;
    });
    response.on('close', () => watcher.close());
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (!this.#note(request)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const place = this.#placeOf(request);
    if (request.headers.upgrade?.toLowerCase() === 'websocket')
      this.#overWebSocket(request, { socket, head }, place);
    else this.#overSpdy(socket, place);
  }

  #overWebSocket(
    request: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    { verb, folder, query }: Place,
  ): void {
    const { 'sec-websocket-protocol': offered = '' } = request.headers;
    const isSpoken = offered.split(',').some((each) => CHANNEL_PROTOCOLS.includes(each.trim()));
    if (verb === 'portForward' || !isSpoken) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const channels = new Channels(webSocket);
      const streams = {
        stdin: query.has('input') ? channels.incoming(0) : undefined,
        stdout: query.has('output') ? channels.outgoing(1) : undefined,
        stderr: query.has('error') ? channels.outgoing(2) : undefined,
      };
      const command = verb === 'attach' ? ['cat'] : query.getAll('command');
      void runCommand(command, folder, streams).then((code) => {
        channels.outgoing(3).end(JSON.stringify(endStatus(code)), () => channels.close());
      });
    });
  }

  #overSpdy(socket: Duplex, place: Place): void {
    const protocol = place.verb === 'portForward' ? 'portforward.k8s.io' : 'v4.channel.k8s.io';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    if (place.verb === 'portForward') serveSpdy(socket, forwardPort);
    else {
      const opened = new Map<string, Duplex>();
      const wanted = [
        'error',
        ...(['input', 'output', 'error'] as const)
          .filter((name) => place.query.has(name))
          .map((name) => TYPES[name]),
      ];
      serveSpdy(socket, ({ headers, stream }) => {
        opened.set(headers.get('streamtype') ?? '', stream);
        if (wanted.every((type) => opened.has(type))) void this.#runOver(socket, place, opened);
      });
    }
  }

  async #runOver(
    socket: Duplex,
    { verb, folder, query }: Place,
    opened: ReadonlyMap<string, Duplex>,
  ): Promise<void> {
    const command = verb === 'attach' ? ['cat'] : query.getAll('command');
    const code = await runCommand(command, folder, {
      stdin: opened.get('stdin'),
      stdout: opened.get('stdout'),
      stderr: opened.get('stderr'),
    });
    opened.get('error')?.end(JSON.stringify(endStatus(code)));
    setTimeout(() => socket.end(), 50);
  }
}

const TYPES = { input: 'stdin', output: 'stdout', error: 'stderr' } as const;

/** Connects pairs of streams, one for data and one for errors, each to a local port. */
function forwardPort({ headers, stream }: SessionStream): void {
  if (headers.get('streamtype') !== 'data') {
    stream.end();
    return;
  }
  const target = connect(Number(headers.get('port')), '127.0.0.1');
  target.on('error', () => stream.destroy());
  stream.on('close', () => target.destroy());
  stream.pipe(target);
  target.pipe(stream);
}
