import { setTimeout as delay } from 'node:timers/promises';
import type { EtcdMember } from '../../../deploy/local/etcd-cluster';
import type { HaSet } from '../../support/ha-set';
import type { Replica } from '../../support/replica';
import type { Random } from './seeded-random';

/** Injects one fault after another until it is stopped; each fault is repaired before the next. */
export interface Damage {
  /** Resolves when every fault is repaired; rejects when a program did not come back. */
  end(): Promise<void>;
  /** Rejects as soon as a program does not come back; otherwise pending. */
  readonly failed: Promise<never>;
  /** The number of faults by kind. */
  readonly done: Readonly<Record<string, number>>;
}

export interface DamageOptions {
  readonly set: Pick<HaSet, 'replicas' | 'etcd'>;
  readonly random: Random;
  /** The longest freeze of a replica. */
  readonly replicaSleepMsMax: number;
  /** A frozen leader loses its leadership after the election timeout. */
  readonly memberSleepMsMax: number;
  readonly pauseMsMax: number;
}

const SLEEP_MS_MIN = 200;
const DOWN_MS_MAX = 1_000;

type Blow = (options: DamageOptions) => Promise<void>;

const BLOWS: readonly (readonly [weight: number, blow: readonly [name: string, run: Blow]])[] = [
  [6, ['kill -9 of a replica', killReplica]],
  [5, ['a frozen replica', freezeReplica]],
  [2, ['kill -9 of two replicas', killTwoReplicas]],
  [3, ['kill -9 of an etcd member', killMember]],
  [2, ['kill -9 of the etcd leader', killLeader]],
  [2, ['a frozen etcd member', freezeMember]],
  [1, ['kill -9 of all of etcd', killStore]],
];

export function startDamage(options: DamageOptions): Damage {
  const done: Record<string, number> = {};
  const end = new AbortController();
  const running = (async (): Promise<void> => {
    // Every fault once in random order, then random faults.
    const first = BLOWS.map(([, blow]) => [options.random.next(), blow] as const).sort(([a], [b]) => a - b);
    for (let turn = 0; !end.signal.aborted; turn++) {
      const [name, run] = first[turn]?.[1] ?? options.random.weighted(BLOWS);
      await run(options);
      done[name] = (done[name] ?? 0) + 1;
      await delay(options.random.below(options.pauseMsMax), undefined, { signal: end.signal }).catch(
        () => undefined,
      );
    }
  })();
  const failed = new Promise<never>((_resolve, reject) => {
    running.catch(reject);
  });
  failed.catch(() => undefined);
  return {
    done,
    failed,
    end: async () => {
      end.abort();
      await running;
    },
  };
}

function anyReplica({ set, random }: DamageOptions): Replica {
  return oneOf(set.replicas, random);
}

async function killReplica(options: DamageOptions): Promise<void> {
  const replica = anyReplica(options);
  await replica.kill('SIGKILL');
  await delay(options.random.below(DOWN_MS_MAX));
  await replica.restart();
}

async function killTwoReplicas(options: DamageOptions): Promise<void> {
  const spared = anyReplica(options);
  const others = options.set.replicas.filter((each) => each !== spared);
  await Promise.all(
    others.map(async (replica) => {
      await replica.kill('SIGKILL');
      await replica.restart();
    }),
  );
}

async function freezeReplica(options: DamageOptions): Promise<void> {
  const replica = anyReplica(options);
  replica.pause();
  await delay(sleepMs(options.random, options.replicaSleepMsMax));
  replica.resume();
}

async function killMember(options: DamageOptions): Promise<void> {
  await killAndStart(oneOf(options.set.etcd.members, options.random), options.random);
}

async function killLeader({ set, random }: DamageOptions): Promise<void> {
  await killAndStart(await set.etcd.leader(), random);
}

async function freezeMember({ set, random, memberSleepMsMax }: DamageOptions): Promise<void> {
  const { pid } = oneOf(set.etcd.members, random);
  if (pid === undefined) throw new Error('an etcd member is down without a fault');
  process.kill(pid, 'SIGSTOP');
  await delay(sleepMs(random, memberSleepMsMax));
  process.kill(pid, 'SIGCONT');
  await set.etcd.leader();
}

async function killStore({ set, random }: DamageOptions): Promise<void> {
  await Promise.all(set.etcd.members.map(async (member) => killAndStart(member, random)));
}

async function killAndStart(member: EtcdMember, random: Random): Promise<void> {
  await member.kill('SIGKILL');
  await delay(random.below(DOWN_MS_MAX));
  await member.start();
  await member.healthy();
}

function sleepMs(random: Random, max: number): number {
  return SLEEP_MS_MIN + random.below(max - SLEEP_MS_MIN);
}

function oneOf<T>(items: readonly T[], random: Random): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('there is nothing to break');
  return item;
}
