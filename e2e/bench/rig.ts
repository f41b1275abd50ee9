import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultServiceAccount, namespace } from '../support/objects';
import type { Replica } from '../support/replica';
import { benchPod } from './bench-pod';
import type { BenchProcess } from './children';
import { startProgram } from './children';
import type { Limit } from './limit-server';
import type { Target } from './messages';
import { memoryAtRest, memoryMegabytes, preferProcess } from './process-cost';
import { withServers } from './servers';

/** The numbers of pods and watchers, and the duration of each row of requests. */
export const SIZES = {
  objects: Number(process.env['ORCH_BENCH_OBJECTS'] ?? 10_000),
  watchers: Number(process.env['ORCH_BENCH_WATCHERS'] ?? 1_000),
  idleWatchers: Number(process.env['ORCH_BENCH_IDLE_WATCHERS'] ?? 5_000),
  durationMs: Number(process.env['ORCH_BENCH_SECONDS'] ?? 5) * 1_000,
} as const;

export const PODS = '/api/v1/namespaces/bench/pods';
/** The selectors of one label and one node, and the paths for creating and changing pods. */
export const BY_LABEL = `${PODS}?labelSelector=app%3Dapp-7`;
export const BY_NODE = `${PODS}?fieldSelector=spec.nodeName%3Dnode-7`;
export const MADE_PODS = '/api/v1/namespaces/made/pods';
export const CONFIGMAPS = '/api/v1/namespaces/bench/configmaps';
export const FAN_OUT = '/api/v1/namespaces/fan-out/configmaps';
export const ACCEPT = {
  json: 'application/json',
  protobuf: 'application/vnd.orch.protobuf',
  table: 'application/json;as=Table;g=meta.orch;v=v1',
} as const;

const FILL_CONCURRENCY = 32;
const LIST_TIMEOUT_MS = 120_000;

/** One API server on one etcd, and the bare server that measures the limit. */
export interface Bench {
  readonly replica: Replica;
  /** The output file of the event-loop probe. */
  readonly loopFile: string;
  readonly target: Target;
  readonly limitTarget: Target;
  readonly limit: BenchProcess;
  readonly etcdPid: number;
  readonly etcdEndpoint: string;
  readonly memory: ServerMemory;
  /** Whether all processes have raised priority. */
  readonly isPreferred: boolean;
}

/** Resident memory of the server in MB: with an empty store and with the pods, directly after the work and idle. */
export interface ServerMemory {
  readonly started: number;
  readonly idle: number;
  readonly written: number;
  readonly filled: number;
}

/** Starts everything, runs `measure`, and stops everything. */
export async function withBench(measure: (bench: Bench) => Promise<void>): Promise<void> {
  const options = { name: 'bench', dialect: 'orch', isProbed: true } as const;
  await withServers(options, async ({ dir, etcd, replica, loopFile, targetOf }) => {
    const etcdPid = etcd.members[0]?.pid ?? 0;
    const memory = await fillMeasured(replica);
    const target = targetOf(replica);
    const { limit, server } = await startLimit(replica, dir);
    try {
      const isPreferred = [replica.process().pid, limit.pid, etcdPid, process.pid].every(preferProcess);
      await measure({
        replica,
        loopFile,
        target,
        limitTarget: { ...target, server },
        limit,
        etcdPid,
        etcdEndpoint: etcd.endpoints[0] ?? '',
        isPreferred,
        memory,
      });
    } finally {
      limit.kill();
    }
  });
}

/** A configmap with about 1 KB of data. */
export function benchConfigMap(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text: 'x'.repeat(1_000) },
  };
}

async function fillMeasured(replica: Replica): Promise<ServerMemory> {
  const { pid } = replica.process();
  const started = memoryMegabytes(pid).now;
  const idle = await memoryAtRest(pid);
  await fill(replica);
  const written = memoryMegabytes(pid).now;
  return { started, idle, written, filled: await memoryAtRest(pid) };
}

async function fill(replica: Replica): Promise<void> {
  for (const name of ['bench', 'made', 'fan-out']) {
    await replica.client.create('/api/v1/namespaces', namespace(name));
    await replica.client.create(`/api/v1/namespaces/${name}/serviceaccounts`, defaultServiceAccount());
  }
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < SIZES.objects) {
      const created = await replica.client.create(PODS, benchPod(next++));
      if (created.status !== 201) throw new Error(created.text);
    }
  };
  await Promise.all(Array.from({ length: FILL_CONCURRENCY }, writer));
}

/** Records the bytes of the server's answers and the frame of one event, which the bare server sends. */
async function startLimit(
  replica: Replica,
  dir: string,
): Promise<{ readonly limit: BenchProcess; readonly server: string }> {
  const readings: readonly (readonly [at: string, accept: string])[] = [
    [`${PODS}/pod-0`, ACCEPT.json],
    [`${PODS}/pod-0?resourceVersion=0`, ACCEPT.json],
    [PODS, ACCEPT.json],
    [PODS, ACCEPT.protobuf],
    [PODS, ACCEPT.table],
    [`${PODS}?limit=500`, ACCEPT.json],
    [BY_LABEL, ACCEPT.json],
    [BY_NODE, ACCEPT.json],
  ];
  const answers: Record<string, string> = {};
  for (const [index, [at, accept]] of readings.entries()) {
    const file = path.join(dir, `answer-${String(index)}`);
    const { bytes } = await replica.client.request({
      path: at,
      headers: { accept },
      timeoutMs: LIST_TIMEOUT_MS,
    });
    writeFileSync(file, bytes);
    answers[`${at} ${accept}`] = file;
  }
  const frameFile = path.join(dir, 'frame');
  const created = await replica.client.create(CONFIGMAPS, benchConfigMap('frame'));
  writeFileSync(frameFile, `${JSON.stringify({ type: 'ADDED', object: created.body })}\n`);
  const certDir = path.join(dir, 'certs');
  const limit = startProgram('limit-server', {
    certFile: path.join(certDir, 'apiserver.crt'),
    keyFile: path.join(certDir, 'apiserver.key'),
    answers,
    frameFile,
  } satisfies Limit);
  return { limit, server: `https://127.0.0.1:${String(await limit.answer())}` };
}
