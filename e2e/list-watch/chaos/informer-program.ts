import { setTimeout as delay } from 'node:timers/promises';
import type { Journal, JournalReport } from './journal';
import type { View } from './views';

/** The address for informers: a replica or the balancer. */
export interface InformerTarget {
  readonly name: string;
  readonly kubeconfig: string;
}

/** The first message to an informer program: it starts one informer per pair, and replies `synced`. */
export interface StartInformers {
  readonly pairs: readonly (readonly [View, InformerTarget])[];
  /** Versions up to this one are ignored. */
  readonly base: number;
}

/** The second message: the reply is JournalReport[] when every informer has reached the version of its view, or at the timeout. */
export interface FinishInformers {
  readonly versions: Readonly<Record<string, number>>;
  readonly deadlineMs: number;
}

/** One informer under test. */
export interface TestedInformer {
  readonly view: View;
  readonly journal: Journal;
  whenSynced(): Promise<void>;
  report(): JournalReport;
}

export type StartOne = (view: View, target: InformerTarget, base: number) => TestedInformer;

const POLL_INTERVAL_MS = 50;

/** Handles the two messages. The program ends with the channel to its parent. */
export function runInformerProgram(startOne: StartOne): void {
  process.on('disconnect', () => process.exit(0));
  process.once('message', ({ pairs, base }: StartInformers) => {
    const informers = pairs.map(([view, target]) => startOne(view, target, base));
    process.once('message', (finish: FinishInformers) => {
      finishAll(informers, finish).then((reports) => process.send?.(reports), fail);
    });
    Promise.all(informers.map(async (each) => each.whenSynced())).then(() => process.send?.('synced'), fail);
  });
}

async function finishAll(
  informers: readonly TestedInformer[],
  { versions, deadlineMs }: FinishInformers,
): Promise<readonly JournalReport[]> {
  const deadline = performance.now() + deadlineMs;
  const isBehind = ({ view, journal }: TestedInformer): boolean => {
    const newest = Math.max(journal.seen.newest, journal.relists.at(-1)?.to ?? 0);
    return newest < (versions[view.id] ?? 0);
  };
  while (informers.some(isBehind) && performance.now() < deadline) await delay(POLL_INTERVAL_MS);
  return informers.map((each) => each.report());
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
