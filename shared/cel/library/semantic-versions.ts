import type { FunctionDeclaration } from '../check/declarations';
import { BOOL, INT, STRING, structOf } from '../check/types';
import { EvalError, NO_OVERLOAD, OpaqueValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, global, method } from './functions';

export const SEMVER_TYPE = structOf('kubernetes.Semver');
const SINCE = 33;
const NUMERIC = /^(?:0|[1-9]\d*)$/u;
const NUMBER = '(0|[1-9]\\d*)';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`,
  'u',
);

class SemverValue extends OpaqueValue {
  readonly type = SEMVER_TYPE;
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];

  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compareVersions(this, other) === 0;
  }
}

function parseSemver(text: string, normalizes: boolean): SemverValue | EvalError {
  const match = SEMVER.exec(normalizes ? normalize(text) : text);
  if (match === null) return new EvalError('No Major.Minor.Patch elements found');
  const prerelease = match[4]?.split('.') ?? [];
  if ([...prerelease, ...(match[5]?.split('.') ?? [])].includes(''))
    return new EvalError('Prerelease is empty');
  if (prerelease.some((piece) => /^\d+$/u.test(piece) && !NUMERIC.test(piece))) {
    return new EvalError('Numeric PreRelease version must not contain leading zeroes');
  }
  return new SemverValue(match.slice(1, 4).map(BigInt), prerelease);
}

/** Removes a leading `v` and leading zeros, and adds missing numbers to versions without further parts. */
function normalize(text: string): string {
  const parts = text.replace(/^v/u, '').split('.');
  const [major = '', minor, ...rest] = parts;
  const heads = [major, minor, rest.length === 0 ? undefined : rest.join('.')].filter(
    (part) => part !== undefined,
  );
  const clean = heads.map((piece) => piece.replace(/^0+(?=\d)/u, ''));
  if (clean.length < 3 && /[+-]/u.test(clean.at(-1) ?? '')) return '';
  while (clean.length < 3) clean.push('0');
  return clean.join('.');
}

function compareVersions(a: SemverValue, b: SemverValue): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Math.sign(b.prerelease.length - a.prerelease.length);
  for (const [index, piece] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const order = comparePrereleases(piece, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0;
}

function comparePrereleases(a: string, b: string): number {
  const [isNumberA, isNumberB] = [NUMERIC.test(a), NUMERIC.test(b)];
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  if (a === b) return 0;
  return (isNumberA ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}

function convert(text?: Value, normalizes: Value = false): SemverValue | EvalError {
  return typeof text === 'string' && typeof normalizes === 'boolean'
    ? parseSemver(text, normalizes)
    : NO_OVERLOAD;
}

function isSemver(text?: Value, normalizes?: Value): Result {
  const version = convert(text, normalizes);
  return version === NO_OVERLOAD ? version : version instanceof SemverValue;
}

function component(index: number): (version?: Value) => Result {
  return (version) => (version instanceof SemverValue ? (version.numbers[index] ?? 0n) : NO_OVERLOAD);
}

function onTwo(run: (order: number) => Result): (a?: Value, b?: Value) => Result {
  return (a, b) =>
    a instanceof SemverValue && b instanceof SemverValue ? run(compareVersions(a, b)) : NO_OVERLOAD;
}

const PAIR = [SEMVER_TYPE, SEMVER_TYPE];

/** Semantic versions (k8s.io/apiserver `cel/library/semverlib.go`, version 1). */
export const SEMVER_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'semver',
    SINCE,
    global('string_to_semver', [STRING], SEMVER_TYPE, convert),
    global('string_bool_to_semver', [STRING, BOOL], SEMVER_TYPE, convert),
  ),
  declare(
    'isSemver',
    SINCE,
    global('is_semver_string', [STRING], BOOL, isSemver),
    global('is_semver_string_bool', [STRING, BOOL], BOOL, isSemver),
  ),
  declare(
    'isGreaterThan',
    SINCE,
    method(
      'semver_is_greater_than',
      PAIR,
      BOOL,
      onTwo((order) => order > 0),
    ),
  ),
  declare(
    'isLessThan',
    SINCE,
    method(
      'semver_is_less_than',
      PAIR,
      BOOL,
      onTwo((order) => order < 0),
    ),
  ),
  declare(
    'compareTo',
    SINCE,
    method(
      'semver_compare_to',
      PAIR,
      INT,
      onTwo((order) => BigInt(order)),
    ),
  ),
  declare('major', SINCE, method('semver_major', [SEMVER_TYPE], INT, component(0))),
  declare('minor', SINCE, method('semver_minor', [SEMVER_TYPE], INT, component(1))),
  declare('patch', SINCE, method('semver_patch', [SEMVER_TYPE], INT, component(2))),
];
