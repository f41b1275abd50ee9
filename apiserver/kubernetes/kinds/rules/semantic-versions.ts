/** Versions as in Semantic Versioning 2.0.0: `1.2.3`, `1.2.3-alpha.1+build.7`. */

const NUMBER = String.raw`(?:0|[1-9]\d*)`;
const PRERELEASE = String.raw`(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+';
const VERSION = new RegExp(
  String.raw`^(${NUMBER})\.(${NUMBER})\.(${NUMBER})(?:-(${PRERELEASE}(?:\.${PRERELEASE})*))?(?:\+${BUILD}(?:\.${BUILD})*)?$`,
);

/** Returns whether the text is a semantic version. */
export function isSemanticVersion(text: string): boolean {
  return VERSION.test(text);
}

/** Compares two versions by precedence: negative, 0 or positive. Text that is no version counts as `0.0.0`. */
export function compareSemanticVersions(one: string, other: string): number {
  const [first, second] = [partsOf(one), partsOf(other)];
  for (const [at, number] of first.numbers.entries()) {
    const compared = compare(number, second.numbers[at] ?? 0n);
    if (compared !== 0) return compared;
  }
  return comparePrereleases(first.prerelease, second.prerelease);
}

interface Parts {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
}

function partsOf(text: string): Parts {
  const [, major = '0', minor = '0', patch = '0', prerelease] = VERSION.exec(text) ?? [];
  return {
    numbers: [major, minor, patch].map(BigInt),
    prerelease: prerelease === undefined ? [] : prerelease.split('.'),
  };
}

/** A release is greater than its pre-releases; of two pre-releases the one with more identifiers, if the others are equal. */
function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return Math.sign(other.length - one.length);
  for (const [at, identifier] of one.entries()) {
    const counterpart = other[at];
    if (counterpart === undefined) return 1;
    const compared = compareIdentifiers(identifier, counterpart);
    if (compared !== 0) return compared;
  }
  return one.length - other.length;
}

/** Numbers are compared as numbers and are less than words. */
function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return compare(BigInt(one), BigInt(other));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return compare(one, other);
}

function compare<T extends bigint | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
