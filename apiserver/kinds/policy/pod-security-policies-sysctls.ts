import type { PodSecurityPolicySpec } from '../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, untilTooMany } from '../../../shared/errors/field-error';
import { forEachItem } from '../rules/primitives';

const ALLOWED = 'spec.allowedUnsafeSysctls';
const FORBIDDEN = 'spec.forbiddenSysctls';
const BYTES_MAX = 253;
const PATTERN = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const FORM = new RegExp(`^${PATTERN}$`);

/** The patterns of sysctls that pods may set, and that they may not: nothing may be in both. */
export function sysctlRules(spec: PodSecurityPolicySpec): FieldError[] {
  const { allowedUnsafeSysctls: allowed = [], forbiddenSysctls: forbidden = [] } = spec;
  return [
    ...patterns(allowed, ALLOWED),
    ...patterns(forbidden, FORBIDDEN),
    ...untilTooMany(allowed, (pattern, index) =>
      forbidden.flatMap((other, at) => overlap({ pattern, at: index }, { pattern: other, at })),
    ),
  ];
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

/** The one that the other covers is the wrong one. */
function overlap(allowed: Placed, forbidden: Placed): FieldError[] {
  if (covers(forbidden.pattern, allowed.pattern)) return [overlapping(ALLOWED, allowed, forbidden)];
  return covers(allowed.pattern, forbidden.pattern) ? [overlapping(FORBIDDEN, forbidden, allowed)] : [];
}

function overlapping(path: string, { pattern, at }: Placed, other: Placed): FieldError {
  return invalid(`${path}[${String(at)}]`, pattern, `sysctl overlaps with ${other.pattern}`);
}

function covers(pattern: string, other: string): boolean {
  if (!pattern.endsWith('*')) return pattern === other;
  return (other.endsWith('*') ? other.slice(0, -1) : other).startsWith(pattern.slice(0, -1));
}
