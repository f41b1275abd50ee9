import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { Etcd3 } from 'etcd3';
import {
  type EtcdLoad,
  monotonicMs,
  PATCHED_OBJECTS,
  percentile,
  type RequestLoad,
  type RequestResult,
} from './messages';

/** The same call again and again on every connection, for as long as the load says. */
export async function runRequests(load: RequestLoad): Promise<RequestResult> {
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

/** What etcd takes with nothing in front of it: puts of the same size. */
export async function runEtcd(load: EtcdLoad): Promise<RequestResult> {
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
