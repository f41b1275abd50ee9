import { Slices } from '../concurrency/slices';
import { compilePattern, isKnownPattern } from './patterns';

/**
 * Compiles the patterns of schemas ahead of their use, in slices of the event loop, so that whoever uses them next need not do it all in one
 * go. Undefined where there is nothing to wait for. No more than `effortMax` instructions are compiled: what comes after them has its limit.
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

/** By schema: looked for once. */
const known = new WeakMap<object, readonly string[]>();

/** What might be one is taken for one. */
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
