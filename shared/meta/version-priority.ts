/** Stability in a version's name, in ascending order. */
const STABILITIES = ['alpha', 'beta', ''] as const;

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Orders version names by preference: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then any other names in
 * alphabetical order. For `toSorted`.
 */
export function byVersionPriority(a: string, b: string): number {
  const [one, two] = [parse(a), parse(b)];
  if (one === undefined || two === undefined) {
    if (one !== undefined) return -1;
    if (two !== undefined) return 1;
    return a < b ? -1 : Number(a > b);
  }
  return two.stability - one.stability || two.major - one.major || two.minor - one.minor;
}

interface ParsedVersion {
  readonly stability: number;
  readonly major: number;
  readonly minor: number;
}

function parse(version: string): ParsedVersion | undefined {
  const match = VERSION.exec(version);
  if (match === null) return undefined;
  const [, major, word = '', minor] = match;
  return {
    stability: STABILITIES.findIndex((each) => each === word),
    major: Number(major),
    minor: Number(minor ?? 0),
  };
}
