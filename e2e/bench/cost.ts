import { type BenchProcess, startLoad } from './children';
import type { Load, RequestResult } from './messages';
import { cpuMicroseconds } from './process-cost';
import { ACCEPT, type Bench, CONFIGMAPS, PODS, SIZES } from './rig';
import { microseconds, milliseconds, ratio, type Table } from './table';

interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

interface Row {
  readonly work: string;
  readonly ours: Cost;
  readonly limit: Cost;
}

/** CPU time of the server's process per request, each beside its limit. */
export async function measureCost(bench: Bench): Promise<Table> {
  const get = `${PODS}/pod-0`;
  const { objects } = SIZES;
  const rows = [
    await measureRequests(bench, 'GET of a pod, consistent', { at: get, connections: 32 }),
    await measureRequests(bench, 'GET of a pod, resourceVersion=0', {
      at: `${get}?resourceVersion=0`,
      connections: 32,
    }),
    await measureRequests(bench, `LIST of ${String(objects)} pods, JSON`, { at: PODS, connections: 2 }),
    await measureRequests(bench, 'the same as Protobuf', {
      at: PODS,
      connections: 2,
      accept: ACCEPT.protobuf,
    }),
    await measureRequests(bench, 'the same as Table', { at: PODS, connections: 2, accept: ACCEPT.table }),
    await measureRequests(bench, 'LIST page of 500 pods', { at: `${PODS}?limit=500`, connections: 4 }),
    ...(await measureWrites(bench)),
  ];
  return {
    title: 'Cost of requests',
    header: ['work', 'CPU per operation', 'limit', 'ratio', 'per second', 'limit', 'p99'],
    rows: rows.map(({ work, ours, limit }) => [
      work,
      microseconds(ours.cpu),
      microseconds(limit.cpu),
      ratio(ours.cpu, limit.cpu),
      ours.perSecond.toFixed(0),
      limit.perSecond.toFixed(0),
      milliseconds(ours.p99Ms),
    ]),
  };
}

interface Reading {
  readonly at: string;
  readonly connections: number;
  readonly accept?: string;
}

async function measureRequests(
  bench: Bench,
  work: string,
  { at, connections, accept = ACCEPT.json }: Reading,
): Promise<Row> {
  const { durationMs } = SIZES;
  const load = { kind: 'requests', path: at, connections, accept, durationMs } as const;
  const ours = await costOf(bench.replica.process().pid, { ...load, target: bench.target });
  const limit = await costOf(bench.limit.pid, { ...load, target: bench.limitTarget });
  return { work, ours, limit };
}

/** The limit of a write is etcd alone; its cost is that of etcd's own process. */
async function measureWrites(bench: Bench): Promise<readonly Row[]> {
  const { durationMs } = SIZES;
  const load = { kind: 'requests', path: CONFIGMAPS, connections: 32, durationMs } as const;
  const pid = bench.replica.process().pid;
  const limit = await costOf(bench.etcdPid, {
    kind: 'etcd',
    endpoint: bench.etcdEndpoint,
    concurrency: 32,
    durationMs,
    valueBytes: 1_300,
  });
  const { target } = bench;
  const created = await costOf(pid, { ...load, target, write: { kind: 'create', prefix: 'c' } });
  // What is patched was applied before, so that its managedFields are those of a live object.
  const applied = await costOf(pid, { ...load, target, write: { kind: 'apply', prefix: 'a' } });
  const patched = await costOf(pid, { ...load, target, write: { kind: 'patch', prefix: 'a' } });
  return [
    { work: 'create of a configmap (limit: etcd alone)', ours: created, limit },
    { work: 'apply of a configmap (limit: etcd alone)', ours: applied, limit },
    { work: 'merge patch of a configmap (limit: etcd alone)', ours: patched, limit },
  ];
}

async function costOf(pid: number, load: Load): Promise<Cost> {
  const loader: BenchProcess = await startLoad(load);
  const before = cpuMicroseconds(pid);
  const result = (await loader.answer()) as RequestResult;
  const cpu = (cpuMicroseconds(pid) - before) / result.operations;
  return { cpu, perSecond: result.operations / result.seconds, p99Ms: result.p99Ms };
}
