import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { BurstLoad, BurstResult, ProbeLoad, ProbeResult, Target } from './messages';
import { monotonicMs, percentile } from './messages';

const WARM_PATH = '/livez/ping';
const PROBE_INTERVAL_MS = 2;

/** At each message `go` it sends one request on every connection at once and replies with a BurstResult. It ends at `stop`. */
export async function runBurst({
  target,
  path,
  accept,
  connections,
  pauseMs,
}: BurstLoad): Promise<'stopped'> {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(target.caFile), maxSockets: connections });
  const all = async (at: string, pause: number): Promise<BurstResult> => {
    const started = monotonicMs();
    const bytes = await Promise.all(
      Array.from({ length: connections }, async () => read(agent, target, { at, accept, pauseMs: pause })),
    );
    return { bytes: bytes.reduce((sum, each) => sum + each, 0), tookMs: monotonicMs() - started };
  };
  await all(WARM_PATH, 0);
  process.send?.('ready');
  for (;;) {
    const [word] = (await once(process, 'message')) as [unknown];
    if (word === 'stop') return 'stopped';
    process.send?.(await all(path, pauseMs));
  }
}

/** Requests a small answer repeatedly; at each message it reports the durations since the last one. */
export async function runProbe({ target, path = WARM_PATH }: ProbeLoad): Promise<'stopped'> {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(target.caFile), maxSockets: 1 });
  let tookMs: number[] = [];
  let failed = 0;
  const stop = new AbortController();
  process.on('message', (word) => {
    if (word === 'stop') stop.abort();
    const result: ProbeResult = {
      p50Ms: percentile(tookMs, 0.5),
      p99Ms: percentile(tookMs, 0.99),
      maxMs: Math.max(...tookMs),
      failed,
    };
    tookMs = [];
    failed = 0;
    if (!stop.signal.aborted) process.send?.(result);
  });
  await read(agent, target, { at: path, accept: '*/*', pauseMs: 0 });
  process.send?.('ready');
  while (!stop.signal.aborted) {
    const started = monotonicMs();
    await read(agent, target, { at: path, accept: '*/*', pauseMs: 0 }).catch(() => (failed += 1));
    tookMs.push(monotonicMs() - started);
    await delay(PROBE_INTERVAL_MS);
  }
  return 'stopped';
}

/** Resolves to the size of the body in bytes. The client does not read for `pauseMs` milliseconds after the headers. */
function read(
  agent: Agent,
  target: Target,
  { at, accept, pauseMs }: { readonly at: string; readonly accept: string; readonly pauseMs: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { accept, authorization: `Bearer ${target.token}` };
    const sent = request(new URL(at, target.server), { agent, headers }, (response) => {
      let bytes = 0;
      const take = (): void => {
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      };
      if (pauseMs === 0) take();
      else setTimeout(take, pauseMs);
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`${at} answered ${String(response.statusCode)}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
