import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { EtcdMember } from '../../../deploy/local/etcd-cluster';
import { eventually } from '../../../shared/testing/eventually';
import type { HaSet, RestartableProgram } from '../../support/ha-set';
import type { Links, LinkState } from '../../support/links';
import type { Replica } from '../../support/replica';
import type { Candidate } from '../load/elected';
import { callEtcd } from './etcd-call';
import type { Fault, FaultKind } from './schedule';

/** The set that faults are injected into. */
export interface FaultTargets {
  readonly set: Pick<HaSet, 'replicas' | 'etcd' | 'controllerManagers'>;
  readonly links: Links;
  readonly candidates: readonly Candidate[];
  /** The file with the wall-clock offset of a replica or controller-manager, and a function that makes the process read it. */
  readonly clocks: readonly Clock[];
  /** The highest revision that may be compacted. */
  readonly compactable: () => number;
}

export interface Clock {
  readonly file: string;
  /** Makes the process read the file. */
  readonly tell: () => void;
}

const LINK_DELAY_MS_MAX = 400;
/** With a larger offset tokens would rightly be refused. */
const CLOCK_OFFSET_MS_MAX = 45_000;
const DOWN_MS_MAX = 1_000;

/** Injects the fault and repairs it. Resolves when all parts work again; throws if one does not recover. */
export async function performFault(fault: Fault, targets: FaultTargets): Promise<void> {
  await PERFORM[fault.kind](fault, targets);
}

const PERFORM: Readonly<Record<FaultKind, (fault: Fault, targets: FaultTargets) => Promise<void>>> = {
  'kill -9 of a replica': async (fault, { set }) => killReplica(one(set.replicas, fault), fault),
  'kill -9 of two replicas': async (fault, { set }) => {
    const spared = one(set.replicas, fault);
    const others = set.replicas.filter((each) => each !== spared);
    await Promise.all(others.map(async (each) => killReplica(each, fault)));
  },
  'a frozen replica': async (fault, { set }) => {
    const replica = one(set.replicas, fault);
    replica.pause();
    await delay(fault.durationMs);
    replica.resume();
  },
  'kill -9 of an etcd member': async (fault, { set }) => killMember(one(set.etcd.members, fault), fault),
  'kill -9 of the etcd leader': async (fault, { set }) => killMember(await set.etcd.leader(), fault),
  'a frozen etcd member': async (fault, { set }) => freezeMember(one(set.etcd.members, fault), fault, set),
  'a frozen etcd leader': async (fault, { set }) => freezeMember(await set.etcd.leader(), fault, set),
  'kill -9 of all of etcd': async (fault, { set }) => {
    await Promise.all(set.etcd.members.map(async (member) => killMember(member, fault)));
  },
  'a new etcd leader': async (fault, { set }) => {
    const leader = await set.etcd.leader();
    const others = set.etcd.members.filter((each) => each !== leader);
    const { header } = await callEtcd(one(others, fault), 'maintenance/status', {});
    // It may have lost the leadership meanwhile; then there is already a new leader.
    await callEtcd(leader, 'maintenance/transfer-leadership', { targetID: header.member_id }).catch(
      () => undefined,
    );
    await set.etcd.leader();
  },
  compaction: async (fault, { set, compactable }) => {
    const revision = String(compactable());
    // Already done if the answer was lost or a replica was faster.
    await callEtcd(one(set.etcd.members, fault), 'kv/compaction', { revision }).catch(() => undefined);
  },
  defragmentation: async (fault, { set }) => {
    await callEtcd(one(set.etcd.members, fault), 'maintenance/defragment', {});
  },
  'kill -9 of a controller-manager': async (fault, { set }) => {
    const program = one(set.controllerManagers, fault);
    await killProgram(program);
    await delay(fault.degree * DOWN_MS_MAX);
    await startProgram(program);
  },
  'a frozen controller-manager': async (fault, { set }) => {
    const program = one(set.controllerManagers, fault).process();
    program.signal('SIGSTOP');
    await delay(fault.durationMs);
    program.signal('SIGCONT');
  },
  'kill -9 of a candidate': async (fault, { candidates }) => {
    const candidate = one(candidates, fault);
    candidate.stop();
    await delay(fault.degree * DOWN_MS_MAX);
    candidate.start();
  },
  'a frozen candidate': async (fault, { candidates }) => {
    const candidate = one(candidates, fault);
    candidate.signal('SIGSTOP');
    await delay(fault.durationMs);
    candidate.signal('SIGCONT');
  },
  'a cut link': async (fault, targets) =>
    breakLinks([anyLink(fault, targets)], { kind: 'cut' }, fault, targets),
  'a silent link': async (fault, targets) =>
    breakLinks([anyLink(fault, targets)], { kind: 'silent' }, fault, targets),
  'a slow link': async (fault, targets) => {
    const delayMs = 1 + Math.floor(fault.degree * LINK_DELAY_MS_MAX);
    await breakLinks([anyLink(fault, targets)], { kind: 'slow', delayMs }, fault, targets);
  },
  'links cut off a replica': async (fault, targets) => {
    const { name } = one(targets.set.replicas, fault);
    const links = targets.links.names().filter((link) => link.startsWith(`${name} > `));
    await breakLinks(links, { kind: fault.degree < 0.5 ? 'cut' : 'silent' }, fault, targets);
  },
  'a wall clock set': async (fault, { clocks }) => {
    const clock = one(clocks, fault);
    writeFileSync(clock.file, String(Math.round((fault.degree * 2 - 1) * CLOCK_OFFSET_MS_MAX)));
    clock.tell();
    return Promise.resolve();
  },
  'restart of everything': async (_fault, { set }) => {
    await Promise.all([
      ...set.replicas.map(async (each) => each.kill('SIGKILL')),
      ...set.controllerManagers.map(killProgram),
      ...set.etcd.members.map(async (each) => each.kill('SIGKILL')),
    ]);
    await Promise.all(set.etcd.members.map(async (each) => each.start()));
    await Promise.all(set.etcd.members.map(async (each) => each.healthy()));
    await Promise.all(set.replicas.map(async (each) => each.restart()));
    await Promise.all(set.controllerManagers.map(startProgram));
  },
};

async function killReplica(replica: Replica, { degree }: Fault): Promise<void> {
  await replica.kill('SIGKILL');
  await delay(degree * DOWN_MS_MAX);
  await replica.restart();
}

async function killMember(member: EtcdMember, { degree }: Fault): Promise<void> {
  await member.kill('SIGKILL');
  await delay(degree * DOWN_MS_MAX);
  await member.start();
  await member.healthy();
}

async function freezeMember(
  { pid }: EtcdMember,
  { durationMs }: Fault,
  { etcd }: Pick<HaSet, 'etcd'>,
): Promise<void> {
  if (pid === undefined) throw new Error('an etcd member is down without a fault');
  process.kill(pid, 'SIGSTOP');
  await delay(durationMs);
  process.kill(pid, 'SIGCONT');
  await etcd.leader();
}

async function killProgram(program: RestartableProgram): Promise<void> {
  program.process().signal('SIGKILL');
  await program.process().exited;
}

/** A controller-manager exits when it loses its lease, and its supervisor restarts it; this function is the supervisor. */
export async function startEnded(programs: readonly RestartableProgram[]): Promise<void> {
  const ended = programs.filter((each) => each.process().hasExited());
  await Promise.all(ended.map(startProgram));
}

/** A program that has logged something has installed its signal handlers. */
async function startProgram(program: RestartableProgram): Promise<void> {
  await program.restart();
  await eventually('the program has begun', async () =>
    Promise.resolve(program.process().recentLines().length > 0),
  );
}

async function breakLinks(
  names: readonly string[],
  state: LinkState,
  { durationMs }: Fault,
  { links }: FaultTargets,
): Promise<void> {
  for (const name of names) await links.set(name, state);
  await delay(durationMs);
  for (const name of names) await links.set(name, { kind: 'whole' });
}

function anyLink(fault: Fault, { links }: FaultTargets): string {
  return one(links.names(), fault);
}

function one<T>(items: readonly T[], { target }: Fault): T {
  const item = items[target % items.length];
  if (item === undefined) throw new Error('There is nothing to break.');
  return item;
}
