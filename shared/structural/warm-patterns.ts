import { Slices } from '../concurrency/slices';
import { compilePattern, isKnownPattern } from './patterns';

/**
 * Compiles the patterns of schemas ahead of use, in slices of the event loop, so that the next request need
 * not block for it. Returns undefined where there is nothing to compile. At most `effortMax` instructions are
 * compiled; later use compiles the rest within its own limit.
 */
export function warmPatterns(schemas: readonly object[], effortMax: number): Promise<void> | undefined {
  const unknown = new Set<string>();
  for (const schema of schemas) {
    for (const pattern of patternsOf(schema)) if (!isKnownPattern(pattern)) unknown.add(pattern);
  }
  return unknown.size === 0 ? undefined : compileInSlices(unknown, effortMax);
}

async function compileInSlices(patterns: Iterable<string>, effortMax: number): Promise<void> {
  const slices = new Slices();
  let effort = 0;
  for (const pattern of patterns) {
    if (effort > effortMax) return;
    effort += compilePattern(pattern).effort;
    if (slices.due()) await slices.pause();
  }
}

/** Patterns by schema. */
const known = new WeakMap<object, readonly string[]>();

/** Every string under the key `pattern` counts as a pattern. */
function patternsOf(schema: object): readonly string[] {
  const found = known.get(schema) ?? [...textsCalledPattern(schema)];
  known.set(schema, found);
  return found;
}

function* textsCalledPattern(value: object): IterableIterator<string> {
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (name === 'pattern' && typeof member === 'string' && member !== '') yield member;
    else if (typeof member === 'object' && member !== null) yield* textsCalledPattern(member);
  }
}
