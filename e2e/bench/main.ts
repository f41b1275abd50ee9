/**
 * `npm run bench`: first honest figures of one API server on one etcd, each beside its limit in the same run. Cost is CPU time of the
 * server's process per operation; the load comes from processes of its own. Sizes can be changed by ORCH_BENCH_OBJECTS,
 * ORCH_BENCH_WATCHERS and ORCH_BENCH_SECONDS.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureCredentials } from '../../deploy/local/credentials';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { guardProcess } from '../../deploy/local/guard';
import { namespace } from '../support/objects';
import { type Replica, startReplica } from '../support/replica';
import { makeWorkspace } from '../support/workspace';
import { benchPod } from './bench-pod';
import type { Limit } from './limit-server';
import {
  type Load,
  monotonicMs,
  percentile,
  type RequestResult,
  type Target,
  type WatchResult,
} from './messages';
import { cpuMicroseconds, memoryMegabytes } from './process-cost';

const OBJECTS = Number(process.env['ORCH_BENCH_OBJECTS'] ?? 10_000);
const WATCHERS = Number(process.env['ORCH_BENCH_WATCHERS'] ?? 1_000);
const DURATION_MS = Number(process.env['ORCH_BENCH_SECONDS'] ?? 5) * 1_000;
const FAN_OUT_EVENTS = 50;
const FAN_OUT_INTERVAL_MS = 100;
const FILL_CONCURRENCY = 32;
const PODS = '/api/v1/namespaces/bench/pods';
const CONFIGMAPS = '/api/v1/namespaces/bench/configmaps';
const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/vnd.orch.protobuf';
const TABLE = 'application/json;as=Table;g=meta.orch;v=v1';
const FAN_OUT = '/api/v1/namespaces/fan-out/configmaps';

interface Row {
  readonly work: string;
  readonly cpuMicroseconds: number;
  readonly limitMicroseconds: number | undefined;
  readonly perSecond: number;
  readonly limitPerSecond: number;
  readonly p99Ms: number;
}

interface Bench {
  readonly replica: Replica;
  readonly target: Target;
  readonly limitTarget: Target;
  readonly limit: ChildProcess;
  readonly etcdPid: number;
  readonly etcdEndpoint: string;
}

async function main(): Promise<void> {
  const workspace = makeWorkspace('bench');
  const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(workspace.dir, 'etcd') });
  const [member] = etcd.members;
  const etcdPid = member?.pid ?? 0;
  guardProcess(etcdPid);
  const credentials = ensureCredentials(workspace.dir);
  const replica = await startReplica({
    dialect: 'orch',
    storage: { kind: 'etcd', endpoints: etcd.endpoints },
    dir: workspace.dir,
    credentials,
  });
  let limit: ChildProcess | undefined;
  try {
    const idle = memoryMegabytes(replica.process().pid);
    await fill(replica);
    const filled = memoryMegabytes(replica.process().pid);
    const target = { server: replica.server, caFile: replica.caFile, token: credentials.adminToken };
    const started = await startLimit(replica, workspace.dir);
    limit = started.child;
    const limitTarget = { ...target, server: started.server };
    const bench = { replica, target, limitTarget, limit, etcdPid, etcdEndpoint: etcd.endpoints[0] ?? '' };
    print(await measureAll(bench), { idle, filled, end: memoryMegabytes(replica.process().pid) });
  } finally {
    limit?.kill('SIGKILL');
    await replica.stop();
    await member?.kill('SIGKILL');
    await etcd.stop();
    workspace.remove();
  }
}

async function fill(replica: Replica): Promise<void> {
  for (const name of ['bench', 'fan-out']) await replica.client.create('/api/v1/namespaces', namespace(name));
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < OBJECTS) {
      const created = await replica.client.create(PODS, benchPod(next++));
      if (created.status !== 201) throw new Error(created.text);
    }
  };
  await Promise.all(Array.from({ length: FILL_CONCURRENCY }, writer));
}

async function measureAll(bench: Bench): Promise<readonly Row[]> {
  const get = `${PODS}/pod-0`;
  const rows = [
    await measureRequests(bench, 'GET of a pod, consistent', { at: get, connections: 32 }),
    await measureRequests(bench, 'GET of a pod, resourceVersion=0', {
      at: `${get}?resourceVersion=0`,
      connections: 32,
    }),
    await measureRequests(bench, `LIST of ${String(OBJECTS)} pods, JSON`, { at: PODS, connections: 2 }),
    await measureRequests(bench, 'the same as Protobuf', { at: PODS, connections: 2, accept: PROTOBUF }),
    await measureRequests(bench, 'the same as Table', { at: PODS, connections: 2, accept: TABLE }),
    await measureRequests(bench, 'LIST page of 500 pods', { at: `${PODS}?limit=500`, connections: 4 }),
    ...(await measureWrites(bench)),
    await measureFanOut(bench),
  ];
  return rows;
}

interface Reading {
  readonly at: string;
  readonly connections: number;
  readonly accept?: string;
}

async function measureRequests(
  bench: Bench,
  work: string,
  { at, connections, accept = JSON_TYPE }: Reading,
): Promise<Row> {
  const load = { kind: 'requests', path: at, connections, accept, durationMs: DURATION_MS } as const;
  const ours = await costOf(bench.replica.process().pid, { ...load, target: bench.target });
  const limit = await costOf(bench.limit.pid ?? 0, { ...load, target: bench.limitTarget });
  return rowOf(work, ours, limit);
}

/** The limit of a write is etcd alone; its cost is that of etcd's own process. */
async function measureWrites(bench: Bench): Promise<readonly Row[]> {
  const load = { kind: 'requests', path: CONFIGMAPS, connections: 32, durationMs: DURATION_MS } as const;
  const pid = bench.replica.process().pid;
  const limit = await costOf(bench.etcdPid, {
    kind: 'etcd',
    endpoint: bench.etcdEndpoint,
    concurrency: 32,
    durationMs: DURATION_MS,
    valueBytes: 1_300,
  });
  const { target } = bench;
  const created = await costOf(pid, { ...load, target, write: { kind: 'create', prefix: 'c' } });
  // What is patched was applied before, so that its managedFields are those of a live object.
  const applied = await costOf(pid, { ...load, target, write: { kind: 'apply', prefix: 'a' } });
  const patched = await costOf(pid, { ...load, target, write: { kind: 'patch', prefix: 'a' } });
  return [
    rowOf('create of a configmap (limit: etcd alone)', created, limit),
    rowOf('apply of a configmap (limit: etcd alone)', applied, limit),
    rowOf('merge patch of a configmap (limit: etcd alone)', patched, limit),
  ];
}

interface Cost {
  readonly cpu: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

function rowOf(work: string, ours: Cost, limit: Cost): Row {
  return {
    work,
    cpuMicroseconds: ours.cpu,
    limitMicroseconds: limit.cpu,
    perSecond: ours.perSecond,
    limitPerSecond: limit.perSecond,
    p99Ms: ours.p99Ms,
  };
}

async function costOf(pid: number, load: Load): Promise<Cost> {
  const loader = await startLoad(load);
  const before = cpuMicroseconds(pid);
  const result = (await loader.result) as RequestResult;
  const cpu = (cpuMicroseconds(pid) - before) / result.operations;
  return { cpu, perSecond: result.operations / result.seconds, p99Ms: result.p99Ms };
}

async function measureFanOut(bench: Bench): Promise<Row> {
  const version = (await bench.replica.client.get(FAN_OUT)).body.metadata?.resourceVersion ?? '';
  const watchPath = `${FAN_OUT}?watch=true&resourceVersion=${version}`;
  const ours = await fanOut(
    bench.replica.process().pid,
    { ...bench.target, path: watchPath },
    async (index) => {
      const written = await bench.replica.client.create(FAN_OUT, benchConfigMap(index));
      if (written.status !== 201) throw new Error(written.text);
    },
  );
  const limit = await fanOut(bench.limit.pid ?? 0, { ...bench.limitTarget, path: watchPath }, async () => {
    bench.limit.send('tick');
    await once(bench.limit, 'message');
  });
  return rowOf(`watch fan-out to ${String(WATCHERS)}, per delivery`, ours, limit);
}

/** Deliveries per second are those of one event: watchers divided by the time from its write to its last arrival. */
async function fanOut(
  pid: number,
  { path: at, ...target }: Target & { readonly path: string },
  write: (index: number) => Promise<void>,
): Promise<Cost> {
  const loader = await startLoad({
    kind: 'watches',
    target,
    path: at,
    watchers: WATCHERS,
    events: FAN_OUT_EVENTS,
  });
  const before = cpuMicroseconds(pid);
  const writtenAt: number[] = [];
  for (let index = 0; index < FAN_OUT_EVENTS; index++) {
    await write(index);
    writtenAt.push(monotonicMs());
    await delay(FAN_OUT_INTERVAL_MS);
  }
  const { arrivals } = (await loader.result) as WatchResult;
  const cpu = (cpuMicroseconds(pid) - before) / (WATCHERS * FAN_OUT_EVENTS);
  const delaysMs = arrivals.flatMap((times, event) =>
    times.map((time) => Math.max(0, time - (writtenAt[event] ?? 0))),
  );
  const lastMs = arrivals.map((times, event) => Math.max(1, Math.max(...times) - (writtenAt[event] ?? 0)));
  const meanLastMs = lastMs.reduce((sum, ms) => sum + ms, 0) / lastMs.length;
  return { cpu, perSecond: (WATCHERS / meanLastMs) * 1_000, p99Ms: percentile(delaysMs, 0.99) };
}

async function startLoad(load: Load): Promise<{ readonly result: Promise<unknown> }> {
  const child = fork(path.join(__dirname, 'load.js'));
  if (child.pid !== undefined) guardProcess(child.pid);
  child.send(load);
  const [first] = (await firstMessage(child)) as [unknown];
  if (first !== 'ready') throw new Error('The load process began with something else than its connections.');
  return { result: firstMessage(child).then(([result]) => result) };
}

/** Rejects when the child ends without a word. */
async function firstMessage(child: ChildProcess): Promise<unknown[]> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('A process of the benchmark ended early; its reason is above.');
  });
  ended.catch(() => undefined);
  try {
    return await Promise.race([once(child, 'message', { signal: over.signal }), ended]);
  } finally {
    over.abort();
  }
}

/** Takes the very bytes the server answered, and the frame of one event, for the bare server to send. */
async function startLimit(replica: Replica, dir: string): Promise<{ child: ChildProcess; server: string }> {
  const readings: readonly (readonly [at: string, accept: string])[] = [
    [`${PODS}/pod-0`, JSON_TYPE],
    [`${PODS}/pod-0?resourceVersion=0`, JSON_TYPE],
    [PODS, JSON_TYPE],
    [PODS, PROTOBUF],
    [PODS, TABLE],
    [`${PODS}?limit=500`, JSON_TYPE],
  ];
  const answers: Record<string, string> = {};
  for (const [index, [at, accept]] of readings.entries()) {
    const file = path.join(dir, `answer-${String(index)}`);
    const { bytes } = await replica.client.request({ path: at, headers: { accept }, timeoutMs: 120_000 });
    writeFileSync(file, bytes);
    answers[`${at} ${accept}`] = file;
  }
  const frameFile = path.join(dir, 'frame');
  const created = await replica.client.create(CONFIGMAPS, benchConfigMap(0));
  writeFileSync(frameFile, `${JSON.stringify({ type: 'ADDED', object: created.body })}\n`);
  const certDir = path.join(dir, 'certs');
  const child = fork(path.join(__dirname, 'limit-server.js'));
  if (child.pid !== undefined) guardProcess(child.pid);
  child.send({
    certFile: path.join(certDir, 'apiserver.crt'),
    keyFile: path.join(certDir, 'apiserver.key'),
    answers,
    frameFile,
  } satisfies Limit);
  const [port] = await firstMessage(child);
  return { child, server: `https://127.0.0.1:${String(port)}` };
}

function benchConfigMap(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `event-${String(index)}` },
    data: { text: 'x'.repeat(1_200) },
  };
}

function print(
  rows: readonly Row[],
  memory: Readonly<Record<'idle' | 'filled' | 'end', { readonly now: number; readonly peak: number }>>,
): void {
  const cells = rows.map((row) => [
    row.work,
    micros(row.cpuMicroseconds),
    micros(row.limitMicroseconds ?? Number.NaN),
    `${(row.cpuMicroseconds / (row.limitMicroseconds ?? Number.NaN)).toFixed(2)} ×`,
    row.perSecond.toFixed(0),
    row.limitPerSecond.toFixed(0),
    `${row.p99Ms.toFixed(1)} ms`,
  ]);
  const header = ['work', 'CPU per operation', 'limit', 'ratio', 'per second', 'limit', 'p99'];
  const lines = [header, header.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
  const [cpu] = cpus();
  console.log(`${lines.join('\n')}

Node ${process.version}, ${String(cpus().length)} × ${cpu?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}
Memory of the server: ${memory.idle.now.toFixed(0)} MB idle, ${memory.filled.now.toFixed(0)} MB with ${String(OBJECTS)} pods, peak ${memory.end.peak.toFixed(0)} MB.`);
}

function micros(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(1)} ms` : `${value.toFixed(1)} µs`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
