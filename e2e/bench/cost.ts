import type { BenchProcess } from './children';
import { startLoad } from './children';
import type { Load, RequestLoad, RequestResult } from './messages';
import { POD_GROUPS } from './bench-pod';
import { cpuMicroseconds } from './process-cost';
import type { Bench } from './rig';
import { ACCEPT, BY_LABEL, BY_NODE, CONFIGMAPS, MADE_PODS, PODS, SIZES } from './rig';
import type { Table } from './table';
import { microseconds, milliseconds, ratio } from './table';

const CLEAR_TIMEOUT_MS = 120_000;

export interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  /** The number of operations. */
  readonly begun: number;
}

interface Row {
  readonly work: string;
  readonly ours: Cost;
  readonly limit: Cost;
}

/** Measures the CPU time of the server per request, with the limit. */
export async function measureCost(bench: Bench): Promise<Table> {
  const get = `${PODS}/pod-0`;
  const { objects } = SIZES;
  const found = String(objects / POD_GROUPS);
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
    await measureRequests(bench, `LIST by a label that ${found} pods have`, {
      at: BY_LABEL,
      connections: 32,
    }),
    await measureRequests(bench, `LIST of the ${found} pods of a node`, { at: BY_NODE, connections: 32 }),
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
    notes: [
      'The limit of reads is a bare server that sends the same bytes; that of writes is etcd alone, taking puts of a configmap’s size.',
    ],
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
  const limit = await costOf(bench.etcdPid, {
    kind: 'etcd',
    endpoint: bench.etcdEndpoint,
    concurrency: 32,
    durationMs,
    valueBytes: 1_300,
  });
  const measure = async (path: string, write: NonNullable<RequestLoad['write']>): Promise<Cost> =>
    costOf(bench.replica.process().pid, {
      kind: 'requests',
      target: bench.target,
      path,
      connections: 32,
      durationMs,
      write,
    });
  const created = await measure(CONFIGMAPS, { kind: 'create', prefix: 'c' });
  const deleted = await measure(CONFIGMAPS, { kind: 'delete', prefix: 'c', count: created.begun });
  // Changed objects were applied before, so that their managedFields are realistic.
  const applied = await measure(CONFIGMAPS, { kind: 'apply', prefix: 'a' });
  const patched = await measure(CONFIGMAPS, { kind: 'patch', prefix: 'a' });
  const updated = await measure(CONFIGMAPS, { kind: 'update', prefix: 'a' });
  const createdPods = await measure(MADE_PODS, { kind: 'createPod', prefix: 'p' });
  const patchedPods = await measure(MADE_PODS, { kind: 'patchPodStatus', prefix: 'p' });
  // The next measurement needs the same pods as all other rows.
  const cleared = await bench.replica.client.request({
    method: 'DELETE',
    path: `${MADE_PODS}?gracePeriodSeconds=0`,
    timeoutMs: CLEAR_TIMEOUT_MS,
  });
  if (cleared.status !== 200) throw new Error(cleared.text);
  return [
    { work: 'create of a configmap', ours: created, limit },
    { work: 'delete of a configmap', ours: deleted, limit },
    { work: 'apply of a configmap', ours: applied, limit },
    { work: 'merge patch of a configmap', ours: patched, limit },
    { work: 'update of a configmap', ours: updated, limit },
    { work: 'create of a pod', ours: createdPods, limit },
    { work: 'strategic merge patch of a pod’s status', ours: patchedPods, limit },
  ];
}

/** Runs the load in a separate process and returns the cost of each operation in the process with this id. */
export async function costOf(pid: number, load: Load): Promise<Cost> {
  const loader: BenchProcess = await startLoad(load);
  const before = cpuMicroseconds(pid);
  const result = (await loader.answer()) as RequestResult;
  const { operations, seconds, p99Ms, begun } = result;
  const cpu = (cpuMicroseconds(pid) - before) / operations;
  return { cpu, perSecond: operations / seconds, p99Ms, begun };
}
