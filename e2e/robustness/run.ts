import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../list-watch/chaos/seeded-random';
import type { Finding } from './checks/finding';
import type { EpochReport } from './epoch';
import { runEpoch } from './epoch';
import type { StoreCopy } from './faults/replace-store';
import { copyStore, emptyStore } from './faults/replace-store';
import { createFaults } from './faults/schedule';
import { startSurvivors } from './replacement';
import { startRig } from './rig';
import type { Rig } from './rig';
import type { RunSize } from './size';

export interface RunOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly size: RunSize;
  /** One line of progress. */
  readonly say: (text: string) => void;
  /** Called with each epoch after its check. */
  readonly onEpoch?: (report: EpochReport, number: number) => void;
}

export interface RunReport {
  readonly epochs: readonly EpochReport[];
  /** Violations of the epochs, and of the replacements between them. */
  readonly findings: readonly Finding[];
  /** The number of replacements of the store, by kind of the new store. */
  readonly replaced: Readonly<Record<Replacement, number>>;
}

export type Replacement = 'an older store' | 'an empty store';

/** Runs epochs until the time is over, and replaces the store between them. All random choices come from the seed. */
export async function runRobustness(options: RunOptions): Promise<RunReport> {
  const { seed, durationMs, size, say } = options;
  const random = createRandom(seed);
  const nextFault = createFaults(random, { durationMsMax: size.faultMsMax, pauseMsMax: size.pauseMsMax });
  const replacements = createRandom(seed + 1);
  const rig = await startRig({ replicas: 3, etcd: 3, balancer: true, controllerManagers: 2 });
  const epochs: EpochReport[] = [];
  const findings: Finding[] = [];
  const replaced: Record<Replacement, number> = { 'an older store': 0, 'an empty store': 0 };
  const startedAt = performance.now();
  try {
    for (let number = 0; ; number++) {
      let copy: StoreCopy | undefined;
      const halfway = async (): Promise<void> => {
        say(`epoch ${String(number)}: all of etcd is stopped, and copied`);
        copy = await copyStore(rig.set.etcd);
      };
      const report = await runEpoch({ rig, size, seed, number, nextFault, say, halfway });
      epochs.push(report);
      findings.push(...report.findings);
      options.onEpoch?.(report, number);
      if (epochs.length >= size.epochsMin && performance.now() - startedAt >= durationMs) break;
      // The first replacement is an older store, which is a stricter test than an empty one.
      const isEmpty = number > 0 && replacements.below(3) === 0;
      const kind: Replacement = copy === undefined || isEmpty ? 'an empty store' : 'an older store';
      say(`the store is replaced by ${kind}`);
      findings.push(...(await replaceStore(rig, copy, { kind, isFrozen: replacements.below(2) === 0 })));
      replaced[kind]++;
    }
  } catch (error) {
    // A part that does not recover ends the run and is a violation.
    const text = `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${lastLines(rig)}`;
    findings.push({ check: 'everything comes back', text });
  } finally {
    await rig.stop();
  }
  return { epochs, findings, replaced };
}

const LINES_SHOWN = 30;

function lastLines({ set }: Rig): string {
  const programs = [...set.replicas, ...set.controllerManagers].map((each) => each.process());
  return programs
    .map((program) => {
      const state = program.hasExited() ? 'ended' : 'running';
      return [`${program.name} (${state}):`, ...program.recentLines().slice(-LINES_SHOWN)].join('\n    ');
    })
    .join('\n');
}

/** A replica that was frozen during the replacement resumes on a store that others have already written to. */
async function replaceStore(
  rig: Rig,
  copy: StoreCopy | undefined,
  { kind, isFrozen }: { readonly kind: Replacement; readonly isFrozen: boolean },
): Promise<readonly Finding[]> {
  const survivors = await startSurvivors(rig);
  const [frozen] = isFrozen ? rig.set.replicas : [];
  frozen?.pause();
  try {
    if (kind === 'an empty store' || copy === undefined) await emptyStore(rig.set.etcd);
    else await copy.restore();
    if (frozen !== undefined) await delay(FROZEN_MS);
    frozen?.resume();
    return await survivors.check();
  } finally {
    frozen?.resume();
    survivors.stop();
  }
}

const FROZEN_MS = 3_000;
