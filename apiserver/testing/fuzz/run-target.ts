import { isNativeError } from 'node:util/types';
import type { Random } from '../../../shared/testing/random';
import type { KeptInput } from './corpus';
import type { Check, Target } from './target';

/** An input that violates a check. */
export interface Finding {
  readonly target: string;
  readonly input: Buffer;
  /** The corpus file of the input or of its origin. */
  readonly origin: string;
  readonly problem: string;
}

export interface RunOptions {
  readonly kept: readonly KeptInput[];
  readonly random: Random;
  /** Called before each mutated input; false ends the run. */
  readonly goesOn: (tried: number) => boolean;
  /** Coverage; inputs that reach new blocks are mutated further. */
  readonly reach?: Reach;
  /** The run ends after this number of different findings. */
  readonly findingsMax: number;
}

/** Coverage counters. Reading them takes far longer than one input, so that inputs run in batches. */
export interface Reach {
  /** Whether anything new ran since the last call, without recording it. */
  readonly seesNew: () => boolean;
  /** The same, and records it. */
  readonly isNew: () => boolean;
}

export interface RunOutcome {
  readonly findings: readonly Finding[];
  /** The number of tried inputs, including the corpus. */
  readonly tried: number;
  /** Inputs with new coverage. */
  readonly added: readonly KeptInput[];
}

/** The greatest number of new inputs in memory during one run. */
const POOL_MAX = 5_000;
const BATCH_INPUTS = 32;

/** Tries the first inputs of a target, then mutations of them. */
export async function runTarget(target: Target, check: Check, options: RunOptions): Promise<RunOutcome> {
  const { random, goesOn, reach, findingsMax } = options;
  const made = (await target.made?.()) ?? [];
  const pool: KeptInput[] = [
    ...options.kept,
    ...made.map((bytes, index) => ({ name: `made ${String(index)}`, bytes })),
  ];
  const firsts = pool.length;
  const findings = new Map<string, Finding>();
  let tried = 0;
  const attempt = async ({ name, bytes }: KeptInput): Promise<void> => {
    tried += 1;
    const problem = await problemOf(check, bytes);
    if (problem === undefined) return;
    const place = placeOf(problem);
    if (!findings.has(place))
      findings.set(place, { target: target.name, input: bytes, origin: name, problem });
  };
  for (const input of pool) await attempt(input);
  reach?.isNew();
  while (goesOn(tried) && findings.size < findingsMax) {
    const batch: KeptInput[] = [];
    while (batch.length < BATCH_INPUTS && goesOn(tried)) {
      const parent = random.pick(pool);
      const other = random.pick(pool).bytes;
      const bytes = random.pick(target.mutators)(parent.bytes, { random, words: target.words, other });
      batch.push({ name: parent.name, bytes });
      await attempt({ name: parent.name, bytes });
    }
    if (reach?.seesNew() !== true) continue;
    for (const input of batch) {
      await problemOf(check, input.bytes);
      if (reach.isNew() && pool.length - firsts < POOL_MAX) pool.push(input);
    }
  }
  return { findings: [...findings.values()], tried, added: pool.slice(firsts) };
}

/** Identifies a finding by the beginning of its problem and its place in the program, so that each place has one finding. */
export function placeOf(problem: string): string {
  const [first = '', ...stack] = problem.split('\n');
  const where = stack.filter((line) => /^ +at /.test(line)).slice(0, 3);
  return [first.split(': ').slice(0, 2).join(': ').slice(0, 100), ...where]
    .join('\n')
    .replaceAll(/\d+/g, '#');
}

/** The problem with one input; undefined without one. */
export async function problemOf(check: Check, input: Buffer): Promise<string | undefined> {
  try {
    // A copy, so that a check cannot change the pool.
    await check(Buffer.from(input));
    return undefined;
  } catch (error) {
    return isNativeError(error) ? (error.stack ?? error.message) : String(error);
  }
}
