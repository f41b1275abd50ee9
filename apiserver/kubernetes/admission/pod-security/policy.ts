import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { POD_SECURITY_PREFIX } from '../../../../shared/names';

const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** A Pod Security Standard: a level, and the minor number of the policy version. */
export interface Standard {
  readonly level: Level;
  readonly version: number | 'latest';
}

/** What a namespace demands of its pods. */
export interface Policy {
  readonly enforce: Standard;
  readonly audit: Standard;
  readonly warn: Standard;
}

/** The modes, in the order in which upstream lists them. */
export const MODES = ['enforce', 'audit', 'warn'] as const;

export const PRIVILEGED: Standard = { level: 'privileged', version: 'latest' };
export const DEFAULT_POLICY: Policy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED };

type Labels = Readonly<Record<string, string>>;

interface Parsed<T> {
  readonly value: T;
  readonly error?: string;
}

/**
 * Returns the policy that labels of a namespace choose, with the defaults for what they do not say, and the errors of wrong labels. A wrong
 * level counts as `restricted` for enforcement and `privileged` for audits and warnings, a wrong version as `latest`. Source:
 * `PolicyToEvaluate` of k8s.io/pod-security-admission.
 */
export function policyOf(
  labels: Labels,
  defaults: Policy,
): { readonly policy: Policy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const read = <T>(name: string, fallback: T, parse: (text: string) => Parsed<T>): T => {
    const key = `${POD_SECURITY_PREFIX}${name}`;
    const text = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (text === undefined) return fallback;
    const { value, error } = parse(text);
    if (error !== undefined) errors.push(invalid(`metadata.labels[${key}]`, text, error));
    return value;
  };
  const modeOf = (mode: keyof Policy, wrong: Level): Standard => ({
    level: read(mode, defaults[mode].level, (text) => parseLevel(text, wrong)),
    version: read(`${mode}-version`, defaults[mode].version, parseVersion),
  });
  const enforce = modeOf('enforce', 'restricted');
  const enforced = labels[`${POD_SECURITY_PREFIX}enforce`];
  const isEnforced = LEVELS.some((level) => level === enforced);
  const audit = modeOf('audit', 'privileged');
  const warn = modeOf('warn', 'privileged');
  const followsEnforce =
    isEnforced && !(`${POD_SECURITY_PREFIX}warn` in labels) && isStricter(enforce.level, warn.level);
  const version = `${POD_SECURITY_PREFIX}warn-version` in labels ? warn.version : enforce.version;
  return {
    policy: { enforce, audit, warn: followsEnforce ? { level: enforce.level, version } : warn },
    errors,
  };
}

/** Returns the standards that labels choose and that are not privileged: `enforce=baseline:latest, warn=restricted:v1.30`. */
export function chosenIn(labels: Labels, policy: Policy): string {
  return MODES.filter((mode) => {
    const key = `${POD_SECURITY_PREFIX}${mode}`;
    return policy[mode].level !== 'privileged' && (key in labels || `${key}-version` in labels);
  })
    .map((mode) => `${mode}=${formatStandard(policy[mode])}`)
    .join(', ');
}

/** Returns whether the first level allows less than the second. */
export function isStricter(one: Level, other: Level): boolean {
  return LEVELS.indexOf(one) > LEVELS.indexOf(other);
}

/** Returns `baseline:latest` or `restricted:v1.24`. */
export function formatStandard({ level, version }: Standard): string {
  return `${level}:${version === 'latest' ? version : `v1.${String(version)}`}`;
}

/** Parses a level; an unknown one is the level `wrong`, with an error. */
export function parseLevel(text: string, wrong: Level): Parsed<Level> {
  const level = LEVELS.find((each) => each === text);
  return level === undefined
    ? { value: wrong, error: `must be one of ${LEVELS.join(', ')}` }
    : { value: level };
}

/** Parses `latest` or `v1.24`. */
export function parseVersion(text: string): Parsed<number | 'latest'> {
  if (text === 'latest') return { value: 'latest' };
  const minor = /^v1\.(\d|[1-9]\d+)$/.exec(text)?.[1];
  return minor === undefined
    ? { value: 'latest', error: 'must be "latest" or "v1.x"' }
    : { value: Number(minor) };
}
