import { mkdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Replica } from '../support/replica';
import type { Attack } from './attacks/attack';
import { ATTACKS } from './attacks/attacks';
import { fillForAttacks } from './attacks/fill';
import { startSlowWebhook } from './attacks/slow-webhook';
import { askProbe } from './ask-probe';
import type { BenchProcess } from './children';
import { startLoad, startProgram, tell } from './children';
import type { LoopFigures } from './loop-probe';
import type { AnsweredCodes, AttackResult, ProbeResult, Target } from './messages';
import { cpuMicroseconds, forgetPeak, memoryMegabytes, preferProcess } from './process-cost';
import { SIZES } from './rig';
import { withServers } from './servers';
import type { Table } from './table';
import { megabytes, milliseconds, ratio } from './table';

/** A pattern of the names of the attacks to run. */
const WANTED = new RegExp(process.env['ORCH_BENCH_ATTACKS'] ?? '', 'u');
/** The folder of the attacked build; by default this repository. */
const BUILD_ROOT = process.env['ORCH_BENCH_BUILD'];
/** Bootstrap tokens, so that there are tokens to guess. */
const FLAGS = ['--enable-bootstrap-token-auth'];
/** The attacker uses the other cores of the machine. */
const ATTACKER_PRIORITY = 10;
/** Work that an attack leaves behind ends before the next quiet time. */
const SETTLE_MS = 2_000;
/** The measurement fails if the server is blocked for longer. */
const HELD_MS_MAX = 600_000;
const QUIET_PATH = '/api/v1/namespaces/quiet/configmaps/small';

interface Rig {
  readonly replica: Replica;
  readonly dir: string;
  readonly loopFile: string;
  readonly probe: BenchProcess;
  /** With the attacker's token. */
  readonly attacker: Target;
}

interface Figures {
  readonly attack: Attack;
  readonly quiet: ProbeResult;
  readonly attacked: ProbeResult;
  readonly codes: AnsweredCodes;
  /** CPU time of the server under the attack, in cores. */
  readonly cores: number;
  /** The longest work of its main thread without a yield. */
  readonly workedMs: number;
  readonly peakMegabytes: number;
}

/**
 * Measures the duration of a GET of one tenant while another tenant, or a client without credentials, attacks the server, and directly
 * before the attack. Tenants are service accounts with rights in separate namespaces. ORCH_BENCH_ATTACKS is a pattern of attack names.
 */
export async function measureAttacks(): Promise<Table> {
  const found: Figures[] = [];
  await withRig(async (rig) => {
    for (const attack of ATTACKS.filter(({ name }) => WANTED.test(name))) {
      const figures = await measure(rig, attack);
      found.push(figures);
      console.log(`| ${rowOf(figures).join(' | ')} |`);
    }
  });
  return {
    title: 'One tenant’s GET while another attacks',
    header: [
      'attack',
      'p50',
      'attacked',
      'p99',
      'attacked',
      'ratio',
      'longest',
      'failed',
      'worked in one go',
      'answers',
      'cores',
      'memory',
    ],
    rows: found.map(rowOf),
  };
}

async function withRig(measureAll: (rig: Rig) => Promise<void>): Promise<void> {
  const options = {
    name: 'attacks',
    dialect: 'kubernetes',
    flags: [() => FLAGS],
    isProbed: true,
    buildRoot: BUILD_ROOT,
  } as const;
  await withServers(options, async ({ dir, replica, loopFile, targetOf }) => {
    const webhook = await startSlowWebhook(path.join(dir, 'certs'));
    let probe: BenchProcess | undefined;
    try {
      const tokens = await fillForAttacks(replica, webhook);
      preferProcess(replica.process().pid);
      const target = targetOf(replica);
      probe = await startLoad({
        kind: 'probe',
        target: { ...target, token: tokens.quiet },
        path: QUIET_PATH,
      });
      const made = path.join(dir, 'attacker');
      mkdirSync(made);
      const attacker = { ...target, token: tokens.noisy };
      await measureAll({ replica, dir: made, loopFile, probe, attacker });
    } finally {
      probe?.send('stop');
      await webhook.close();
    }
  });
}

async function measure({ replica, dir, loopFile, probe, attacker }: Rig, attack: Attack): Promise<Figures> {
  const { pid } = replica.process();
  const child = startProgram('load', { kind: 'attack', name: attack.name, target: attacker, dir });
  if ((await child.answer()) !== 'ready') throw new Error('the attack began before its start message');
  setPriority(child.pid, ATTACKER_PRIORITY);
  await delay(SETTLE_MS);
  await tell(probe);
  await delay(SIZES.durationMs);
  const quiet = await tell(probe);
  await askProbe(replica.process(), loopFile);
  forgetPeak(pid);
  const before = { at: performance.now(), cpu: cpuMicroseconds(pid) };
  child.send('go');
  await delay(SIZES.durationMs);
  const codes = await stop(child);
  const attacked = await tell(probe);
  const cores = (cpuMicroseconds(pid) - before.cpu) / ((performance.now() - before.at) * 1_000);
  const { peak } = memoryMegabytes(pid);
  const { workedMs } = (await askProbe(replica.process(), loopFile, HELD_MS_MAX)) as LoopFigures;
  return { attack, quiet, attacked, codes, cores, workedMs, peakMegabytes: peak };
}

async function stop(child: BenchProcess): Promise<AnsweredCodes> {
  child.send('stop');
  return ((await child.answer()) as AttackResult).codes;
}

function rowOf({
  attack,
  quiet,
  attacked,
  codes,
  cores,
  workedMs,
  peakMegabytes,
}: Figures): readonly string[] {
  const answers = codes
    .toSorted(([a], [b]) => a - b)
    .map(([code, times]) => `${String(times)} × ${code === 0 ? 'broken' : String(code)}`);
  return [
    attack.name,
    milliseconds(quiet.p50Ms),
    milliseconds(attacked.p50Ms),
    milliseconds(quiet.p99Ms),
    milliseconds(attacked.p99Ms),
    ratio(attacked.p99Ms, quiet.p99Ms),
    milliseconds(attacked.maxMs),
    String(attacked.failed),
    milliseconds(workedMs),
    answers.join(', '),
    cores.toFixed(2),
    megabytes(peakMegabytes),
  ];
}
