import { dialect } from './names';

/**
 * The API level: the Kubernetes release whose API this process serves. Each row of the tables says with `since` and `until` in which
 * releases it exists. No other code compares releases. A level is the minor number of a release: 36 for `1.36`.
 */
export type ApiLevel = number;

/** The level of the tables' union, which has every row. Types and descriptions are made from it. */
export const ALL_LEVELS = 'all';
export type AnyLevel = ApiLevel | typeof ALL_LEVELS;

const FIRST: ApiLevel = 21;
const LAST: ApiLevel = 36;

/** The releases that are compared with a real server. Those between follow from the same tables. */
export const VERIFIED_LEVELS: readonly ApiLevel[] = [FIRST, LAST];

/** A row that some releases have. */
export interface Spanned {
  /** The first release that has it, as `1.24`. Default: the first level. */
  readonly since?: string;
  /** The last release that has it. Default: the last level. */
  readonly until?: string;
}

/** A row with values that older releases had. */
export interface Revised<T> extends Spanned {
  /** By release: the values that held up to this release and after the one before it in the list; null for none. */
  readonly upTo?: Readonly<Record<string, Readonly<{ [Key in keyof T]?: T[Key] | null }>>>;
}

/** All releases that can be served. */
export const API_LEVELS: readonly string[] = Array.from({ length: LAST - FIRST + 1 }, (_, at) =>
  formatApiLevel(FIRST + at),
);

/** Returns the level of `1.36`; undefined for a release that is not served. */
export function parseApiLevel(text: string): ApiLevel | undefined {
  const minor = /^v?1\.(\d+)$/.exec(text)?.[1];
  const level = Number(minor);
  return minor !== undefined && level >= FIRST && level <= LAST ? level : undefined;
}

/** Returns `1.36` for the level 36. */
export function formatApiLevel(level: ApiLevel): string {
  return `1.${String(level)}`;
}

/** True if the row exists at the level. */
export function isAtLevel({ since, until }: Spanned, level: AnyLevel = apiLevel): boolean {
  if (level === ALL_LEVELS) return true;
  return minorOf(since ?? '1.21') <= level && (until === undefined || minorOf(until) >= level);
}

/** True if the level is that of the release, as `1.24`, or of a later one. */
export function isReached(release: string, level: AnyLevel = apiLevel): boolean {
  return level === ALL_LEVELS || minorOf(release) <= level;
}

/** Returns the row with the values of the level, without the columns of releases. */
export function rowAtLevel<T extends Revised<T>>(row: T, level: AnyLevel = apiLevel): T {
  const { upTo } = row;
  if (upTo === undefined || level === ALL_LEVELS) return row;
  const release = Object.keys(upTo)
    .filter((each) => minorOf(each) >= level)
    .sort((a, b) => minorOf(a) - minorOf(b))[0];
  if (release === undefined) return row;
  const changed = Object.entries({ ...row, ...upTo[release] }).filter(([, value]) => value !== null);
  return Object.fromEntries(changed) as unknown as T;
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}

/** The value of `--api-level` on the command line, else of ORCH_API_LEVEL. A value that is no level is left to the flags. */
function readApiLevel(argv: readonly string[], env: NodeJS.ProcessEnv): ApiLevel | undefined {
  const flag = argv.findLast((word, at) => word.startsWith('--api-level=') || argv[at - 1] === '--api-level');
  const given = flag?.replace(/^--api-level=/, '') ?? env['ORCH_API_LEVEL'];
  return parseApiLevel((typeof ORCH_INSTANCE === 'undefined' ? given : ORCH_INSTANCE.apiLevel) ?? '');
}

/** The level of a new store. */
const DEFAULT_LEVELS = { orch: FIRST, kubernetes: LAST } as const;

/** The level of this process. */
export const apiLevel: ApiLevel = readApiLevel(process.argv, process.env) ?? DEFAULT_LEVELS[dialect];

/** True if the command line or the environment chooses the level. */
export const isApiLevelChosen = readApiLevel(process.argv, process.env) !== undefined;
