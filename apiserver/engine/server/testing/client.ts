import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { ServingCertificateFiles } from '../../../../shared/certs/serving-certificate';
import { ensureServingCertificate } from '../../../../shared/certs/serving-certificate';
import { servingHosts } from '../../../../shared/certs/serving-hosts';
import { silentLog } from '../../../../shared/log/log';
import { USER_GROUP } from '../../../../shared/names';
import type { Answer, Exchange } from '../../request/exchange';
import type { Pipeline } from '../request-handler';
import type { Server, ServerSettings } from '../server';
import { createServer } from '../server';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  /** Name and value in turns, as they came. */
  readonly rawHeaders: readonly string[];
  readonly text: string;
}

/** A real server on a free port of the loopback, with certificate files of its own. */
export interface TestServer {
  readonly server: Server;
  readonly port: number;
  readonly files: ServingCertificateFiles;
  /** Keeps one connection alive between requests. */
  readonly agent: Agent;
  readonly send: (options: RequestOptions & { readonly body?: Buffer | string }) => Promise<Reply>;
  /** A TLS connection for hand-written bytes. */
  readonly connect: (protocols?: string[]) => Promise<TLSSocket>;
  readonly stop: () => Promise<void>;
}

export async function startServer(
  pipeline: Pipeline,
  settings: Partial<ServerSettings> = {},
): Promise<TestServer> {
  const dir = mkdtempSync(path.join(tmpdir(), 'door-'));
  const files = ensureServingCertificate({ dir, hosts: servingHosts([]) });
  const server = createServer({
    bindAddress: '127.0.0.1',
    port: 0,
    certificate: files,
    minTlsVersion: 'TLSv1.2',
    log: silentLog,
    pipeline,
    ...settings,
  });
  const { port } = await server.listen();
  const sockets: TLSSocket[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  return {
    server,
    port,
    files,
    agent,
    send: async ({ body, ...options }) => send({ host: '127.0.0.1', port, agent, ...options }, body),
    connect: async (protocols) => {
      const socket = await openSocket(port, protocols);
      sockets.push(socket);
      return socket;
    },
    stop: async () => {
      agent.destroy();
      // One that is paused would not notice that it was cut, and hold the process.
      for (const socket of sockets) socket.destroy();
      await server.close({ delayMs: 0, graceMs: 0 });
      rmSync(dir, { recursive: true });
    },
  };
}

async function send(options: RequestOptions, body: Buffer | string | undefined): Promise<Reply> {
  return new Promise<Reply>((resolve, reject) => {
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          code: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    outgoing.on('error', reject);
    if (options.headers !== undefined && 'Expect' in options.headers) {
      outgoing.on('continue', () => outgoing.end(body));
      outgoing.flushHeaders();
    } else {
      outgoing.end(body);
    }
  });
}

async function openSocket(port: number, protocols?: string[]): Promise<TLSSocket> {
  const offer = protocols === undefined ? {} : { ALPNProtocols: protocols };
  return new Promise<TLSSocket>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...offer }, () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Everything the server sends until it closes the connection. */
export async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  return new Promise<string>((resolve) => {
    socket.once('close', () => {
      resolve(text);
    });
  });
}

export function textAnswer(text: string, code = 200): Answer {
  return { code, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(text) };
}

/** A pipeline that answers everything with one answer. */
export function always(answer: (exchange: Exchange) => Answer): Pipeline {
  return async (exchange) => {
    exchange.answer = answer(exchange);
    await Promise.resolve();
  };
}

/** The same pipeline with an authenticated user. */
export function asJane(pipeline: Pipeline): Pipeline {
  return async (exchange) => {
    exchange.user = { name: 'jane', uid: '', groups: [USER_GROUP.authenticated], extra: {} };
    await pipeline(exchange);
  };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

/** A promise that the test settles. */
export function deferred<T = void>(): Deferred<T> {
  const settlers: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => {
    settlers.push(resolve);
  });
  return { promise, resolve: (value) => settlers[0]?.(value) };
}
