import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { Etcd3 } from 'etcd3';
import { overHttp2 } from './http2-load';
import type { EtcdLoad, RequestLoad, RequestResult } from './messages';
import { monotonicMs, percentile } from './messages';
import { writeCall } from './write-calls';

/** Long enough that JIT compilation is not in the figures of the row. */
const WARM_UP_MS = 2_000;

/** Repeats the same call on every connection for the duration of the load. */
export async function runRequests(load: RequestLoad): Promise<RequestResult> {
  const send = load.http2Connections === undefined ? overHttp1(load) : await overHttp2(load);
  const count = load.write?.count ?? Infinity;
  let begun = 0;
  let bytes = 0;
  const operation = async (): Promise<boolean> => {
    if (begun >= count) return false;
    bytes += await send(callOf(load, begun++));
    return true;
  };
  await repeat(operation, load.connections, WARM_UP_MS);
  process.send?.('ready');
  bytes = 0;
  const figures = await repeat(operation, load.connections, load.durationMs);
  return { ...figures, begun, bytes };
}

/** Sends one request of the load. Resolves to the size of the body, which is not parsed. */
export type Send = (call: Call) => Promise<number>;

export interface Call {
  readonly method: string;
  /** Appended to the path of the load. */
  readonly place: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The request number `index` of a load. */
export function callOf({ accept = 'application/json', write }: RequestLoad, index: number): Call {
  if (write === undefined) return { method: 'GET', place: '', headers: { accept }, body: Buffer.alloc(0) };
  const { method, place, contentType, body } = writeCall(write.kind, write.prefix, index);
  return { method, place, headers: { accept, 'content-type': contentType }, body };
}

/** Sends over the number of persistent connections of the load. */
export function overHttp1(load: RequestLoad): Send {
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(load.target.caFile),
    maxSockets: load.connections,
  });
  return async (call) => exchange(agent, load, call);
}

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

/** `operation` resolves to false when it is finished. */
async function repeat(
  operation: () => Promise<boolean>,
  concurrency: number,
  durationMs: number,
): Promise<Omit<RequestResult, 'begun' | 'bytes'>> {
  const start = monotonicMs();
  const tookMs: number[] = [];
  const worker = async (): Promise<void> => {
    while (monotonicMs() - start < durationMs) {
      const begun = monotonicMs();
      if (!(await operation())) return;
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

/** The cost of etcd alone: puts of the same size. */
export async function runEtcd(load: EtcdLoad): Promise<RequestResult> {
  const client = new Etcd3({ hosts: load.endpoint });
  const value = Buffer.alloc(load.valueBytes, 'x');
  let written = 0;
  const operation = async (): Promise<boolean> => {
    await client.put(`/bench/${String(written++)}`).value(value);
    return true;
  };
  await repeat(operation, load.concurrency, WARM_UP_MS);
  process.send?.('ready');
  const result = await repeat(operation, load.concurrency, load.durationMs);
  client.close();
  return { ...result, begun: written, bytes: 0 };
}
