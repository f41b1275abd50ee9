/** A process that only makes load: it receives one Load, sends `ready` when its connections stand, then its result, and ends. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { Etcd3 } from 'etcd3';
import {
  type EtcdLoad,
  type Load,
  monotonicMs,
  PATCHED_OBJECTS,
  percentile,
  type RequestLoad,
  type RequestResult,
  type Target,
  type WatchLoad,
  type WatchResult,
} from './messages';

process.once('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.(result, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function run(load: Load): Promise<RequestResult | WatchResult> {
  if (load.kind === 'requests') return runRequests(load);
  return load.kind === 'watches' ? runWatches(load) : runEtcd(load);
}

async function runRequests(load: RequestLoad): Promise<RequestResult> {
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(load.target.caFile),
    maxSockets: load.connections,
  });
  let begun = 0;
  let bytes = 0;
  const operation = async (): Promise<void> => {
    bytes += await exchange(agent, load, callOf(load, begun++));
  };
  await Promise.all(Array.from({ length: load.connections }, operation));
  bytes = 0;
  return { ...(await repeat(operation, load.connections, load.durationMs)), bytes };
}

interface Call {
  readonly method: string;
  /** Behind the load's path. */
  readonly place: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function callOf({ accept = 'application/json', write }: RequestLoad, index: number): Call {
  if (write === undefined) return { method: 'GET', place: '', headers: { accept }, body: Buffer.alloc(0) };
  const { kind, prefix } = write;
  if (kind === 'create') {
    const headers = { accept, 'content-type': 'application/json' };
    return { method: 'POST', place: '', headers, body: configMapOf(`${prefix}-${String(index)}`, index) };
  }
  const name = `${prefix}-${String(index % PATCHED_OBJECTS)}`;
  if (kind === 'patch') {
    const headers = { accept, 'content-type': 'application/merge-patch+json' };
    const body = Buffer.from(JSON.stringify({ data: { count: String(index) } }));
    return { method: 'PATCH', place: `/${name}`, headers, body };
  }
  const headers = { accept, 'content-type': 'application/apply-patch+yaml' };
  return {
    method: 'PATCH',
    place: `/${name}?fieldManager=bench`,
    headers,
    body: configMapOf(name, index),
  };
}

/** One request; resolves to the bytes of its body, which are counted and not parsed. */
function exchange(
  agent: Agent,
  { target, path }: RequestLoad,
  { method, place, headers, body }: Call,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(`${path}${place}`, target.server),
      {
        agent,
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${target.token}`,
          ...(body.length === 0 ? {} : { 'content-length': body.length }),
        },
      },
      (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('error', reject);
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(bytes);
          else reject(new Error(`${path} answered ${String(response.statusCode)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body.length === 0 ? undefined : body);
  });
}

async function repeat(
  operation: () => Promise<void>,
  concurrency: number,
  durationMs: number,
): Promise<Omit<RequestResult, 'bytes'>> {
  process.send?.('ready');
  const start = monotonicMs();
  const tookMs: number[] = [];
  const worker = async (): Promise<void> => {
    while (monotonicMs() - start < durationMs) {
      const begun = monotonicMs();
      await operation();
      tookMs.push(monotonicMs() - begun);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (monotonicMs() - start) / 1000;
  return {
    operations: tookMs.length,
    seconds,
    p50Ms: percentile(tookMs, 0.5),
    p99Ms: percentile(tookMs, 0.99),
  };
}

/** Raw TLS sockets, so that a thousand watchers cost this process little. A frame ends with `}` and a line feed. */
async function runWatches(load: WatchLoad): Promise<WatchResult> {
  const arrivals: number[][] = Array.from({ length: load.events }, () => []);
  const watchers: { readonly socket: TLSSocket; readonly done: Promise<void> }[] = [];
  for (let index = 0; index < load.watchers; index++) watchers.push(await openWatch(load, arrivals));
  process.send?.('ready');
  await Promise.all(watchers.map((watcher) => watcher.done));
  for (const { socket } of watchers) socket.destroy();
  return { arrivals };
}

async function openWatch(
  load: WatchLoad,
  arrivals: readonly number[][],
): Promise<{ readonly socket: TLSSocket; readonly done: Promise<void> }> {
  const socket = await openSocket(load.target);
  socket.write(
    `GET ${load.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${load.target.token}\r\nAccept: application/json\r\n\r\n`,
  );
  let seen = 0;
  let previous = 0;
  let isOpen = false;
  let opened: (() => void) | undefined;
  const hasAnswered = new Promise<void>((resolve) => (opened = resolve));
  const done = new Promise<void>((resolve, reject) => {
    socket.on('close', () => {
      reject(new Error(`A watcher was ended after ${String(seen)} events.`));
    });
    socket.on('data', (chunk: Buffer) => {
      const now = monotonicMs();
      if (!isOpen) {
        isOpen = true;
        if (!chunk.toString('latin1', 0, 15).startsWith('HTTP/1.1 200')) reject(new Error(chunk.toString()));
        opened?.();
      }
      for (const byte of chunk) {
        if (byte === LINE_FEED && previous === BRACE) {
          arrivals[seen++]?.push(now);
          if (seen === load.events) resolve();
        }
        previous = byte;
      }
    });
  });
  done.catch(() => undefined);
  await hasAnswered;
  return { socket, done };
}

const LINE_FEED = 0x0a;
const BRACE = 0x7d;

async function openSocket({ server, caFile }: Target): Promise<TLSSocket> {
  const { hostname, port } = new URL(server);
  const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(caFile) });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  return socket;
}

/** What etcd takes with nothing in front of it: puts of the same size. */
async function runEtcd(load: EtcdLoad): Promise<RequestResult> {
  const client = new Etcd3({ hosts: load.endpoint });
  const value = Buffer.alloc(load.valueBytes, 'x');
  let written = 0;
  const operation = async (): Promise<void> => {
    await client.put(`/bench/${String(written++)}`).value(value);
  };
  await operation();
  const result = await repeat(operation, load.concurrency, load.durationMs);
  client.close();
  return { ...result, bytes: 0 };
}

function configMapOf(name: string, count: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text: 'x'.repeat(1_000), count: String(count) },
    }),
  );
}
