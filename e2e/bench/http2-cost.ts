import type { Replica } from '../support/replica';
import { startLoad } from './children';
import type { Cost } from './cost';
import { costOf } from './cost';
import type { RequestLoad, WatchLoad, WatchResult } from './messages';
import { percentile } from './messages';
import { memoryAtRest, preferProcess } from './process-cost';
import type { Servers } from './servers';
import { withServers } from './servers';
import type { Table } from './table';
import { microseconds, milliseconds } from './table';

const AT_A_TIME = 16;
const ROUNDS = 4;
const ROUND_MS = 2_000;
const WATCHES = 2_000;
/** Below the limit of a connection. */
const WATCHES_ON_A_CONNECTION = 100;
const KIB = 1_024;
const GET = '/api/v1/namespaces/default?resourceVersion=0';
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';

/** One way to send requests: the server, and the number of HTTP/2 connections if any. */
interface Way {
  readonly name: string;
  readonly offers: boolean;
  readonly http2Connections?: number;
}

const WAYS: readonly Way[] = [
  { name: 'HTTP/1.1, HTTP/2 not offered', offers: false },
  { name: 'HTTP/1.1, HTTP/2 offered', offers: true },
  { name: 'HTTP/2, one connection', offers: true, http2Connections: 1 },
  { name: `HTTP/2, ${String(AT_A_TIME)} connections`, offers: true, http2Connections: AT_A_TIME },
];

interface Pair extends Pick<Servers, 'targetOf'> {
  readonly plain: Replica;
  readonly offering: Replica;
}

/** Compares the cost of requests and idle watches over HTTP/2 and HTTP/1.1: two servers on one etcd, measured by turns. */
export async function measureHttp2(): Promise<Table> {
  const flags = [() => ['--enable-http2=false'], () => []];
  return withServers({ name: 'bench-http2', dialect: 'orch', flags }, async ({ replicas, targetOf }) => {
    const [plain, offering] = replicas;
    if (plain === undefined || offering === undefined) throw new Error('there are no two servers');
    for (const replica of replicas) preferProcess(replica.process().pid);
    return tableOf({ plain, offering, targetOf });
  });
}

async function tableOf(servers: Pair): Promise<Table> {
  // First, because a server needs minutes to become idle after work.
  const kibPerWatch = await memoryPerWatch(servers);
  const gets = await byTurns(servers, GET);
  const creates = await byTurns(servers, CONFIGMAPS, 'create');
  return {
    title: `Requests, ${String(AT_A_TIME)} at a time, and idle watches over HTTP/1.1 and HTTP/2`,
    header: ['way', 'CPU of a GET', 'per second', 'p99', 'CPU of a create', 'per second', 'an idle watch'],
    rows: WAYS.map(({ name, offers, http2Connections }, at) => [
      name,
      ...shown(gets[at] ?? []),
      ...shown(creates[at] ?? []).slice(0, 2),
      !offers || http2Connections === AT_A_TIME
        ? ''
        : `${(http2Connections === undefined ? kibPerWatch.http1 : kibPerWatch.http2).toFixed(1)} KiB`,
    ]),
    notes: [
      `Medians of ${String(ROUNDS)} rounds. Watches: ${String(WATCHES_ON_A_CONNECTION)} on each connection of HTTP/2.`,
    ],
  };
}

function shown(costs: readonly Cost[]): readonly string[] {
  const median = (of: (cost: Cost) => number): number => percentile(costs.map(of), 0.5);
  return [
    microseconds(median(({ cpu }) => cpu)),
    median(({ perSecond }) => perSecond).toFixed(0),
    milliseconds(median(({ p99Ms }) => p99Ms)),
  ];
}

async function byTurns(
  { plain, offering, targetOf }: Pair,
  at: string,
  write?: 'create',
): Promise<readonly (readonly Cost[])[]> {
  const costs = WAYS.map((): Cost[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { offers, http2Connections }] of WAYS.entries()) {
      const replica = offers ? offering : plain;
      const load: RequestLoad = {
        kind: 'requests',
        target: targetOf(replica),
        path: at,
        connections: AT_A_TIME,
        durationMs: ROUND_MS,
        ...(http2Connections === undefined ? {} : { http2Connections }),
        ...(write === undefined
          ? {}
          : { write: { kind: write, prefix: `r${String(round)}-${String(index)}` } }),
      };
      costs[index]?.push(await costOf(replica.process().pid, load));
    }
  }
  return costs;
}

async function memoryPerWatch({
  offering,
  targetOf,
}: Pair): Promise<{ readonly http1: number; readonly http2: number }> {
  const { body } = await offering.client.get(`${CONFIGMAPS}?limit=1`);
  const watch = `${CONFIGMAPS}?watch=true&resourceVersion=${body.metadata?.resourceVersion ?? ''}`;
  const { pid } = offering.process();
  const added = async (more: Pick<WatchLoad, 'http2Connections'>): Promise<number> => {
    const before = await memoryAtRest(pid);
    const load = {
      kind: 'watches',
      target: targetOf(offering),
      path: watch,
      watchers: WATCHES,
      events: 0,
    } as const;
    const loader = await startLoad({ ...load, ...more });
    const after = await memoryAtRest(pid);
    loader.send('end');
    const { ended } = (await loader.answer()) as WatchResult;
    if (ended > 0) throw new Error(`${String(ended)} idle watches were ended.`);
    return ((after - before) * KIB) / WATCHES;
  };
  const http2 = await added({ http2Connections: WATCHES / WATCHES_ON_A_CONNECTION });
  return { http2, http1: await added({}) };
}
