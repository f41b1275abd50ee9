import { isNativeError } from 'node:util/types';
import type { Random } from '../../engine/authn/testing/random';
import type { KeptInput } from './corpus';
import type { Check, Target } from './target';

/** An input of which something does not hold. */
export interface Finding {
  readonly target: string;
  readonly input: Buffer;
  /** The kept file that it is, or comes from. */
  readonly origin: string;
  readonly problem: string;
}

export interface RunOptions {
  readonly kept: readonly KeptInput[];
  readonly random: Random;
  /** Asked before each mutated input. */
  readonly goesOn: (tried: number) => boolean;
  /** What inputs reach: those that come where none had been are mutated further. */
  readonly reach?: Reach;
  /** The run ends after so many different ones. */
  readonly findingsMax: number;
}

/** Counters of the program. It takes far longer to read them than to try an input, so that inputs are tried by the batch. */
export interface Reach {
  /** Whether anything ran since the last call that had never run; it is not remembered. */
  readonly seesNew: () => boolean;
  /** The same, remembered. */
  readonly isNew: () => boolean;
}

export interface RunOutcome {
  readonly findings: readonly Finding[];
  /** Inputs that were tried, the kept ones included. */
  readonly tried: number;
  /** Inputs that were added to the first ones because they were new. */
  readonly added: readonly KeptInput[];
}

/** New inputs that are kept in memory during one run. */
const POOL_MAX = 5_000;
const BATCH_INPUTS = 32;

/** Tries the first inputs of a target, and then mutations of them. */
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

/** One place in the program has one finding, whatever its input says: the first words of the problem, and where it was met. */
export function placeOf(problem: string): string {
  const [first = '', ...stack] = problem.split('\n');
  const where = stack.filter((line) => /^ +at /.test(line)).slice(0, 3);
  return [first.split(': ').slice(0, 2).join(': ').slice(0, 100), ...where]
    .join('\n')
    .replaceAll(/\d+/g, '#');
}

/** What is wrong with one input; undefined when all holds. */
export async function problemOf(check: Check, input: Buffer): Promise<string | undefined> {
  try {
    // A copy: nothing that a check keeps or changes is the pool's.
    await check(Buffer.from(input));
    return undefined;
  } catch (error) {
    return isNativeError(error) ? (error.stack ?? error.message) : String(error);
  }
}
