import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, ApiClient, Body } from '../support/client';
import { askProbe } from './ask-probe';
import type { LoopFigures } from './loop-probe';
import type { Bench } from './rig';
import type { Table } from './table';
import { milliseconds } from './table';

/** The maximum work of one scrape on the event loop in milliseconds, all turns together. */
const BAR_MS = 20;
const SCRAPES = 20;
const SETTLE_MS = 500;
const ASKED_AT_ONCE = 10;

/** The share of series that change between two scrapes of a busy server. */
const BUSY_SHARE = 0.1;

/**
 * Measures the main thread's CPU time of a scrape on a server that has answered every verb for every resource. Prometheus requests gzip,
 * which runs on other threads. Unchanged series are cheaper, so there are also rows with requests between the scrapes.
 */
export async function measureScrape(bench: Bench): Promise<Table> {
  const { replica } = bench;
  const { client } = replica;
  const resources = await askForEverything(client);
  const { pid } = replica.process();
  const rows: (readonly string[])[] = [];
  for (const [name, headers, isBusy] of [
    ['as Prometheus asks for it', { 'accept-encoding': 'gzip' }, false],
    ['the same of a busy server', { 'accept-encoding': 'gzip' }, true],
    ['without compression', {}, false],
  ] as const) {
    const scrape = async (): Promise<Answer> => client.request({ path: '/metrics', headers });
    const first = await threadMsOf(pid, scrape);
    await delay(SETTLE_MS);
    const all = { workedMs: 0, atOnceMs: 0, tookMs: 0 };
    for (let turn = 0; turn < 2 * SCRAPES; turn++) {
      const asked = resources.filter((_, index) => (index + turn) % Math.round(1 / BUSY_SHARE) === 0);
      if (isBusy) await Promise.all(asked.map(async ({ path }) => askInAllWays(client, path)));
      await delay(SETTLE_MS / SCRAPES);
      // Observing the loop each millisecond costs a quarter of a scrape, so observed scrapes are not counted.
      if (turn % 2 === 1) {
        all.atOnceMs = Math.max(all.atOnceMs, await longestTurnOf(bench, scrape));
        continue;
      }
      const began = performance.now();
      all.workedMs += await threadMsOf(pid, scrape);
      all.tookMs += performance.now() - began;
    }
    rows.push([
      name,
      ...[first, all.workedMs / SCRAPES, all.atOnceMs, all.tookMs / SCRAPES].map(milliseconds),
    ]);
  }
  const text = (await client.get('/metrics')).text;
  const series = text
    .split('\n')
    .filter((line) => /^apiserver_request_(?:total|duration_seconds_count)\{/u.test(line));
  const lines = text.split('\n').length;
  return {
    title: 'A scrape',
    header: ['scrape', 'the first', 'work of the loop', 'worked in one go', 'answered after'],
    rows,
    notes: [
      `${String(series.length)} series of requests by code and latencies, ${String(lines)} lines, ${(text.length / 1_048_576).toFixed(1)} MiB; the bar is ${String(BAR_MS)} ms of work.`,
    ],
  };
}

interface Resource {
  readonly path: string;
}

/** Reads, refused writes, and watches that end immediately: each is a series with its own codes. */
async function askForEverything(client: ApiClient): Promise<readonly Resource[]> {
  const resources = await served(client);
  for (let index = 0; index < resources.length; index += ASKED_AT_ONCE) {
    const asked = resources.slice(index, index + ASKED_AT_ONCE);
    await Promise.all(asked.map(async ({ path }) => askInAllWays(client, path)));
  }
  return resources;
}

async function askInAllWays(client: ApiClient, path: string): Promise<void> {
  const one = `${path}/missing`;
  const bad = { headers: { 'content-type': 'application/json' }, body: '{}' };
  for (const request of [
    { path },
    { path: `${path}?limit=x` },
    { path: one },
    { path: `${path}?watch=1&timeoutSeconds=1&resourceVersion=0` },
    { path: `${path}?watch=1&resourceVersion=x` },
    { path, method: 'POST', ...bad },
    { path: `${path}?dryRun=All`, method: 'POST', ...bad },
    { path: one, method: 'PUT', ...bad },
    { path: one, method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: '{}' },
    {
      path: `${one}?fieldManager=m`,
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: '{}',
    },
    { path: one, method: 'DELETE' },
    { path: `${path}?dryRun=All&limit=1`, method: 'DELETE' },
    { path: `${one}/status` },
    { path: `${one}/status`, method: 'PUT', ...bad },
    {
      path: `${one}/status`,
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{}',
    },
    { path, headers: { accept: 'text/css' } },
  ])
    await client.request(request);
}

/** The collections of all versions; of namespaced resources in one namespace and across all. */
async function served(client: ApiClient): Promise<readonly Resource[]> {
  const { groups } = (await client.get('/apis')).body as Body & {
    readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  };
  const roots = [
    '/api/v1',
    ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`)),
  ];
  const found: Resource[] = [];
  for (const root of roots) {
    const { resources } = (await client.get(root)).body as Body & {
      readonly resources: readonly {
        readonly name: string;
        readonly namespaced: boolean;
        readonly verbs: readonly string[];
      }[];
    };
    for (const { name, namespaced, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      found.push({ path: `${root}/${name}` });
      if (namespaced) found.push({ path: `${root}/namespaces/empty/${name}` });
    }
  }
  return found;
}

async function threadMsOf(pid: number, run: () => Promise<unknown>): Promise<number> {
  const before = threadMilliseconds(pid);
  await run();
  return threadMilliseconds(pid) - before;
}

async function longestTurnOf({ replica, loopFile }: Bench, run: () => Promise<unknown>): Promise<number> {
  await askProbe(replica.process(), loopFile);
  await run();
  const { workedMs } = (await askProbe(replica.process(), loopFile)) as LoopFigures;
  return workedMs;
}

/** CPU time of the main thread, up to 4 ms late. */
function threadMilliseconds(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'utf8').split(
    ' ',
  );
  return Number(nanoseconds) / 1e6;
}
