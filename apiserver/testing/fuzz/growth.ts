import type { Random } from '../../../shared/testing/random';
import type { BlockCoverage } from './coverage';
import { mutateJson } from './mutators/mutate-json';
import { growJson } from './mutators/grow-json';
import { problemOf } from './run-target';
import type { Check, Target } from './target';

/** An input whose work grows faster than its size. */
export interface Growth {
  readonly input: Buffer;
  /** The work at each size. */
  readonly blocks: readonly number[];
  readonly cpuMs: readonly number[];
}

const SIZES_BYTES = [16_384, 32_768, 65_536] as const;
/** The greatest accepted ratio of work for an input of twice the size. */
const RATIO_MAX = 2.8;
/** Less work than this is ignored. */
const BLOCKS_MIN = 100_000;
const CPU_MS_MIN = 20;

/** Grows an input randomly to three sizes, each twice the last; undefined when the work grows in proportion. */
export async function growthOf(
  check: Check,
  input: Buffer,
  {
    random,
    coverage,
    target,
  }: { readonly random: Random; readonly coverage: BlockCoverage; readonly target: Target },
): Promise<Growth | undefined> {
  const grow =
    target.mutators.includes(mutateJson) && random.chance(0.7)
      ? growJson(input, random)
      : growBytes(input, random);
  if (grow === undefined) return undefined;
  const blocks: number[] = [];
  const cpuMs: number[] = [];
  let largest: Buffer = input;
  for (const size of SIZES_BYTES) {
    largest = grow(size);
    coverage.blocksRun();
    const before = process.cpuUsage();
    await problemOf(check, largest);
    const { user, system } = process.cpuUsage(before);
    cpuMs.push((user + system) / 1_000);
    blocks.push(coverage.blocksRun());
  }
  const isSteep = (figures: readonly number[], least: number): boolean =>
    (figures.at(-1) ?? 0) >= least &&
    figures.slice(1).every((figure, index) => figure > RATIO_MAX * (figures[index] ?? 0));
  return isSteep(blocks, BLOCKS_MIN) || isSteep(cpuMs, CPU_MS_MIN)
    ? { input: largest, blocks, cpuMs }
    : undefined;
}

/** Repeats a piece in place. */
function growBytes(input: Buffer, random: Random): ((size: number) => Buffer) | undefined {
  if (input.length === 0) return undefined;
  const start = random.below(input.length);
  const end = Math.min(input.length, start + 1 + random.below(random.chance(0.7) ? 8 : input.length));
  const piece = input.subarray(start, end);
  return (size) => {
    const count = Math.max(1, Math.floor((size - input.length) / piece.length));
    return Buffer.concat([
      input.subarray(0, start),
      ...Array.from({ length: count }, () => piece),
      input.subarray(end),
    ]);
  };
}
