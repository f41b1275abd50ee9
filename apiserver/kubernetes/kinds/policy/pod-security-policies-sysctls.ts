import type { PodSecurityPolicySpec } from '../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  ERRORS_SHOWN_MAX,
  forbiddenField,
  invalid,
  validateUntilLimit,
} from '../../../../shared/errors/field-error';
import { forEachItem } from '../rules/primitives';

const ALLOWED = 'spec.allowedUnsafeSysctls';
const FORBIDDEN = 'spec.forbiddenSysctls';
const BYTES_MAX = 253;
const PATTERN = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const FORM = new RegExp(`^${PATTERN}$`);

/** The patterns of sysctls that pods may set, and that they may not: nothing may be in both. */
export function sysctlRules(spec: PodSecurityPolicySpec): FieldError[] {
  const { allowedUnsafeSysctls: allowed = [], forbiddenSysctls: forbidden = [] } = spec;
  return [...patterns(allowed, ALLOWED), ...patterns(forbidden, FORBIDDEN), ...overlaps(allowed, forbidden)];
}

function patterns(list: readonly string[], path: string): FieldError[] {
  return [
    ...forEachItem(list, path, (pattern, at) => {
      if (pattern === '') return [invalid(at, pattern, 'empty sysctl not allowed')];
      if (pattern.length <= BYTES_MAX && FORM.test(pattern)) return [];
      const why = `must have at most ${String(BYTES_MAX)} characters and match regex ${PATTERN}`;
      return [invalid(at, pattern, why)];
    }),
    ...(list.length > 1 && list.includes('*')
      ? [forbiddenField(`${path}.items`, "if '*' is present, must not specify other sysctls")]
      : []),
  ];
}

interface Placed {
  readonly pattern: string;
  readonly at: number;
}

/** In the order of the allowed ones, and of the forbidden ones for each. Patterns that are too long have an error of their own, and no other. */
function overlaps(allowed: readonly string[], forbidden: readonly string[]): readonly FieldError[] {
  if (allowed.length === 0 || forbidden.length === 0) return [];
  const index = new PatternIndex(forbidden);
  return validateUntilLimit(allowed, (pattern, at) =>
    pattern.length > BYTES_MAX ? [] : index.meeting(pattern).map((other) => overlap({ pattern, at }, other)),
  );
}

/** The one that the other covers is the wrong one. */
function overlap(allowed: Placed, forbidden: Placed): FieldError {
  return covers(forbidden.pattern, allowed.pattern)
    ? overlapping(ALLOWED, allowed, forbidden)
    : overlapping(FORBIDDEN, forbidden, allowed);
}

function overlapping(path: string, { pattern, at }: Placed, other: Placed): FieldError {
  return invalid(`${path}[${String(at)}]`, pattern, `sysctl overlaps with ${other.pattern}`);
}

/** Patterns, to be found by others without looking at each: a policy may have hundreds of thousands in either list. */
class PatternIndex {
  /** By what they are, or begin with. */
  readonly #sorted: readonly Placed[];
  readonly #byPattern = new Map<string, Placed[]>();

  constructor(texts: readonly string[]) {
    const placed = texts
      .map((pattern, at) => ({ pattern, at }))
      .filter(({ pattern }) => pattern.length <= BYTES_MAX);
    this.#sorted = placed.toSorted((a, b) => (stemOf(a.pattern) < stemOf(b.pattern) ? -1 : 1));
    for (const each of placed) {
      const same = this.#byPattern.get(each.pattern);
      if (same === undefined) this.#byPattern.set(each.pattern, [each]);
      else same.push(each);
    }
  }

  /** Those that cover the pattern, or are covered by it, in their order. As many as can be shown are enough. */
  meeting(pattern: string): readonly Placed[] {
    const found = new Set<Placed>();
    const stem = stemOf(pattern);
    const add = (placed: readonly Placed[] = []): void => {
      for (const each of placed) if (found.size <= ERRORS_SHOWN_MAX) found.add(each);
    };
    add(this.#byPattern.get(pattern));
    for (let length = 0; length <= stem.length; length += 1) {
      add(this.#byPattern.get(`${stem.slice(0, length)}*`));
    }
    if (pattern.endsWith('*')) this.#addBelow(stem, found);
    return [...found].sort((a, b) => a.at - b.at);
  }

  #addBelow(stem: string, found: Set<Placed>): void {
    for (
      let at = this.#firstFrom(stem);
      at < this.#sorted.length && found.size <= ERRORS_SHOWN_MAX;
      at += 1
    ) {
      const each = this.#sorted[at];
      if (each === undefined || !stemOf(each.pattern).startsWith(stem)) return;
      found.add(each);
    }
  }

  #firstFrom(stem: string): number {
    let [from, to] = [0, this.#sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (stemOf(this.#sorted[middle]?.pattern ?? '') < stem) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function stemOf(pattern: string): string {
  return pattern.endsWith('*') ? pattern.slice(0, -1) : pattern;
}

function covers(pattern: string, other: string): boolean {
  return pattern.endsWith('*') ? stemOf(other).startsWith(stemOf(pattern)) : pattern === other;
}
