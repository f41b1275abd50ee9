import { setTimeout as delay } from 'node:timers/promises';
import type { HaSet } from '../support/ha-set';
import { startHaSet } from '../support/ha-set';
import type { Tally, Tenant } from '../support/storm';
import { heartbeats, quietRounds } from '../support/storm';
import { startRedis } from '../support/redis';
import { startStorm } from '../support/storm-process';
import { makeWorkspace } from '../support/workspace';
import { measureFlowCost } from './flow-cost';
import { percentile } from './messages';
import { cpuMicroseconds, forgetPeak, memoryMegabytes, preferProcess, preferSession } from './process-cost';
import { SIZES } from './rig';
import type { Table } from './table';
import { megabytes, milliseconds, ratio } from './table';

const STORM = { lists: 30, creates: 10, watches: 20 };
const ROUNDS = 80;
const CYCLES = 4;
const STORM_PRIORITY = -15;
const PAUSE_MS = 20;
const BEAT_MS = 100;
const LEADER = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
/** The user of heartbeats; without the mode Node it needs a role. */
const NODES = 'system:nodes';
const WRITERS = 16;
const TEXT = 'x'.repeat(900);
const RECOVERY_MS = 2_000;

interface Cycle {
  readonly calm: Tally;
  readonly stormy: Tally;
  readonly after: Tally;
  /** The same for a node. */
  readonly beats: { readonly calm: Tally; readonly stormy: Tally };
  /** Whether the controller-manager led all the time and renewed its lease during the storm. */
  readonly isLed: boolean;
  /** Answers to the storm. */
  readonly codes: ReadonlyMap<number, number>;
  readonly seconds: number;
  /** CPU time of the replicas and of the clients during the storm, in cores. */
  readonly cores: { readonly replicas: number; readonly clients: number };
  readonly peakMegabytes: number;
}

/**
 * Measures how long the requests of a small tenant wait while another tenant sends as much as it can, on three replicas behind a load
 * balancer, with and without shared limits.
 */
export async function measureOverload(): Promise<Table> {
  const modes = [{ name: 'each replica by itself', cycles: await measureStorm([]) }];
  const workspace = makeWorkspace('bench-redis');
  const redis = await startRedis(workspace.dir);
  try {
    const cycles = await measureStorm([`--shared-limits-redis=${redis.url}`]);
    modes.push({ name: 'divided over Redis', cycles });
  } finally {
    await redis.stop();
    workspace.remove();
  }
  return {
    title: 'A tenant beside one that sends far too much',
    header: ['limits', 'who', 'p50', 'in the storm', 'p99', 'in the storm', 'ratio', 'after it', 'longest'],
    rows: modes.flatMap(({ name, cycles }) => rowsOf(name, cycles)),
    notes: modes.map(({ name, cycles }) => `${name}: ${noteOf(cycles)}`),
  };
}

function rowsOf(name: string, cycles: readonly Cycle[]): readonly (readonly string[])[] {
  const tenants = rowOf([name, 'tenant'], {
    calm: cycles.flatMap(({ calm }) => calm.ms),
    stormy: cycles.flatMap(({ stormy }) => stormy.ms),
    after: cycles.flatMap(({ after }) => after.ms),
  });
  const nodes = rowOf([name, 'heartbeats of a node'], {
    calm: cycles.flatMap(({ beats }) => beats.calm.ms),
    stormy: cycles.flatMap(({ beats }) => beats.stormy.ms),
  });
  return [tenants, nodes];
}

interface Times {
  readonly calm: readonly number[];
  readonly stormy: readonly number[];
  readonly after?: readonly number[];
}

function rowOf(names: readonly string[], { calm, stormy, after }: Times): readonly string[] {
  const [before, during] = [percentile(calm, 0.99), percentile(stormy, 0.99)];
  return [
    ...names,
    milliseconds(percentile(calm, 0.5)),
    milliseconds(percentile(stormy, 0.5)),
    milliseconds(before),
    milliseconds(during),
    ratio(during, before),
    after === undefined ? '' : milliseconds(percentile(after, 0.99)),
    milliseconds(Math.max(...stormy)),
  ];
}

/** The observations during the time. */
function noteOf(cycles: readonly Cycle[]): string {
  const mean = (of: (cycle: Cycle) => number): number =>
    cycles.reduce((sum, cycle) => sum + of(cycle), 0) / cycles.length;
  const codesOf = (of: (cycle: Cycle) => Iterable<number>): readonly number[] => [
    ...new Set(cycles.flatMap((cycle) => [...of(cycle)])),
  ];
  const answers = codesOf(({ codes }) => codes.keys()).map((code) => {
    const perSecond = mean(({ codes, seconds }) => (codes.get(code) ?? 0) / seconds);
    return `${perSecond.toFixed(0)} × ${String(code)}`;
  });
  const others = codesOf(({ stormy, beats }) => [...stormy.codes.keys(), ...beats.stormy.codes.keys()]);
  const peak = Math.max(...cycles.map(({ peakMegabytes }) => peakMegabytes));
  return [
    `the storm was answered ${answers.join(', ')} a second`,
    `the others ${others.join(', ')}`,
    `replicas worked ${mean(({ cores }) => cores.replicas).toFixed(2)} cores in all and took ${megabytes(peak)} at most`,
    `its clients ${mean(({ cores }) => cores.clients).toFixed(2)} cores`,
    `the controller-manager ${cycles.every(({ isLed }) => isLed) ? 'led all the time' : 'lost its lease'}.`,
  ].join('; ');
}

/** Measures the cost of the limits for a request without overload. */
export async function measureLimits(): Promise<Table> {
  const workspace = makeWorkspace('bench-redis');
  const redis = await startRedis(workspace.dir);
  try {
    return await measureFlowCost([
      { name: 'their number', extraArgs: ['--enable-priority-and-fairness=false'] },
      { name: 'priority and fairness', extraArgs: [] },
      { name: 'the same, divided over Redis', extraArgs: [`--shared-limits-redis=${redis.url}`] },
    ]);
  } finally {
    await redis.stop();
    workspace.remove();
  }
}

async function measureStorm(extraArgs: readonly string[]): Promise<readonly Cycle[]> {
  const set = await startHaSet({
    replicas: 3,
    etcd: 1,
    balancer: true,
    controllerManagers: 1,
    dialect: 'kubernetes',
    extraArgs,
  });
  try {
    await fill(set);
    const [quietTenant, noisyTenant] = ['quiet', 'noisy'].map((name) => tenantOf(set, name));
    if (quietTenant === undefined || noisyTenant === undefined) throw new Error('there are two tenants');
    for (const pid of [...set.pids(), process.pid]) preferProcess(pid);
    await quietRounds(quietTenant, ROUNDS, PAUSE_MS);
    const cycles: Cycle[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      cycles.push(await measureCycle(set, { quiet: quietTenant, noisy: noisyTenant }));
    }
    return cycles;
  } finally {
    await set.stop();
  }
}

/** A quiet time, a storm, and the time two seconds after it. */
async function measureCycle(
  set: HaSet,
  { quiet, noisy }: { readonly quiet: Tenant; readonly noisy: Tenant },
): Promise<Cycle> {
  const beatsOf = async (rounds: Promise<Tally>): Promise<readonly [Tally, Tally]> => {
    const over = new AbortController();
    const beating = heartbeats(
      quiet,
      { node: `node-${String(performance.now())}`, everyMs: BEAT_MS },
      over.signal,
    );
    const tally = await rounds;
    over.abort();
    return [tally, await beating];
  };
  const [calm, calmBeats] = await beatsOf(quietRounds(quiet, ROUNDS, PAUSE_MS));
  const pids = set.replicas.map((replica) => replica.process().pid);
  for (const pid of pids) forgetPeak(pid);
  const storm = startStorm({ tenant: noisy, size: STORM, priority: STORM_PRIORITY });
  preferSession(storm.pid, STORM_PRIORITY);
  await delay(RECOVERY_MS);
  const before = { at: performance.now(), replicas: cpuOf(pids), clients: cpuOf([storm.pid]) };
  const leaseBefore = await leaderLease(set);
  const [stormy, stormyBeats] = await beatsOf(quietRounds(quiet, ROUNDS, PAUSE_MS));
  const leaseAfter = await leaderLease(set);
  const micros = (performance.now() - before.at) * 1_000;
  const replicas = (cpuOf(pids) - before.replicas) / micros;
  const clients = (cpuOf([storm.pid]) - before.clients) / micros;
  const codes = await storm.stop();
  const peakMegabytes = Math.max(...pids.map((pid) => memoryMegabytes(pid).peak));
  await delay(RECOVERY_MS);
  const after = await quietRounds(quiet, ROUNDS / 2, PAUSE_MS);
  const isLed =
    leaseAfter.renewTime !== leaseBefore.renewTime &&
    leaseAfter.leaseTransitions === leaseBefore.leaseTransitions;
  const beats = { calm: calmBeats, stormy: stormyBeats };
  return {
    calm,
    stormy,
    beats,
    isLed,
    after,
    codes,
    seconds: micros / 1e6,
    cores: { replicas, clients },
    peakMegabytes,
  };
}

interface LeaseSpec {
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

async function leaderLease({ client }: HaSet): Promise<LeaseSpec> {
  const { body } = await client.get(LEADER);
  return body.spec ?? {};
}

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMicroseconds(pid), 0);
}

function tenantOf(set: Omit<HaSet, 'stop'>, name: string): Tenant {
  const caFile = set.replicas[0]?.caFile ?? '';
  return { server: set.server, caFile, token: set.adminToken, user: name, namespace: name };
}

async function fill(set: Omit<HaSet, 'stop'>): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const bind = async (role: string, kind: string, name: string): Promise<void> => {
    const answer = await set.client.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
      metadata: { name: `of-${name}` },
      subjects: [{ kind, name, apiGroup }],
      roleRef: { kind: 'ClusterRole', name: role, apiGroup },
    });
    if (answer.status !== 201) throw new Error(answer.text);
  };
  for (const name of ['noisy', 'quiet']) {
    await set.client.create('/api/v1/namespaces', { metadata: { name } });
    await bind('cluster-admin', 'User', name);
  }
  await bind('system:node', 'Group', NODES);
  await Promise.all(
    Array.from({ length: WRITERS }, async (_writer, at) => {
      for (let index = at; index < SIZES.objects; index += WRITERS) {
        const body = { metadata: { name: `filler-${String(index)}` }, data: { text: TEXT } };
        const answer = await set.client.create('/api/v1/namespaces/noisy/configmaps', body);
        if (answer.status !== 201) throw new Error(answer.text);
      }
    }),
  );
}
