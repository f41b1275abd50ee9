import { suggestion } from '../../../shared/flags/suggestion';
import { wordTable } from '../../../shared/word-table';

interface Gate {
  readonly stage: 'ALPHA' | 'BETA';
  readonly default: boolean;
}

/** The gates there are, under the names kube-apiserver has for them. */
const GATES = {
  EphemeralContainers: { stage: 'ALPHA', default: false },
  ServerSideApply: { stage: 'BETA', default: true },
} as const satisfies Readonly<Record<string, Gate>>;

type GateName = keyof typeof GATES;

/** Features that are there for good: their gates do nothing any more, may be set to true and cannot be switched off. */
const SETTLED_GATES: ReadonlySet<string> = new Set([
  'AdvancedAuditing',
  'DryRun',
  'ImmutableEphemeralVolumes',
  'WatchBookmark',
]);

/** Gates that stand for all gates of a stage that are not named themselves. */
const STAGE_GATES = wordTable<Gate['stage']>({ AllAlpha: 'ALPHA', AllBeta: 'BETA' });

const KNOWN_NAMES: readonly string[] = [...STAGE_GATES.keys(), ...Object.keys(GATES), ...SETTLED_GATES];

/** Which features are on. */
export type FeatureGates = Readonly<Record<GateName, boolean>>;

const DEFAULT_FEATURE_GATES: FeatureGates = {
  EphemeralContainers: GATES.EphemeralContainers.default,
  ServerSideApply: GATES.ServerSideApply.default,
};

export type ParsedFeatureGates =
  | { readonly ok: true; readonly gates: FeatureGates }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Reads `<gate>=<true|false>` items; the last of two for one gate counts, and a gate's own item before one for its whole stage. All
 * errors are told at once.
 */
export function parseFeatureGates(items: readonly string[]): ParsedFeatureGates {
  const said = new Map<string, boolean>();
  const errors: string[] = [];
  for (const item of items) {
    const read = readItem(item);
    if ('error' in read) errors.push(`--feature-gates: ${read.error}`);
    else said.set(read.name, read.value);
  }
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, gates: { ...DEFAULT_FEATURE_GATES, ...valuesOf(said) } };
}

function readItem(
  item: string,
): { readonly name: string; readonly value: boolean } | { readonly error: string } {
  const at = item.indexOf('=');
  const name = (at < 0 ? item : item.slice(0, at)).trim();
  const text = at < 0 ? undefined : item.slice(at + 1).trim();
  const value = parseBool(text);
  if (!KNOWN_NAMES.includes(name)) return { error: `unknown gate ${name}${suggestion(name, KNOWN_NAMES)}` };
  if (text === undefined) return { error: `${name} needs a value: ${name}=true or ${name}=false` };
  if (value === undefined) {
    const hint = suggestion(text, ['true', 'false']);
    return { error: `the value of ${name} must be true or false, not "${text}"${hint}` };
  }
  if (SETTLED_GATES.has(name) && !value) {
    return { error: `cannot set feature gate ${name} to false, feature is locked to true` };
  }
  return { name, value };
}

function valuesOf(said: ReadonlyMap<string, boolean>): Partial<Record<GateName, boolean>> {
  const values: Partial<Record<GateName, boolean>> = {};
  for (const [name, stage] of STAGE_GATES) {
    const value = said.get(name);
    if (value === undefined) continue;
    for (const gate of gateNames()) if (GATES[gate].stage === stage) values[gate] = value;
  }
  for (const gate of gateNames()) {
    const value = said.get(gate);
    if (value !== undefined) values[gate] = value;
  }
  return values;
}

/** The gates as the help lists them. */
export function describeGates(): string {
  return [
    ...[...STAGE_GATES].map(([name, stage]) => `${name}=true|false (${stage} - default=false)`),
    ...Object.entries<Gate>(GATES).map(
      ([name, gate]) => `${name}=true|false (${gate.stage} - default=${String(gate.default)})`,
    ),
    ...[...SETTLED_GATES].map((name) => `${name}=true (GA - locked to true)`),
  ].join(', ');
}

function gateNames(): readonly GateName[] {
  return Object.keys(GATES).filter(isGate);
}

function isGate(name: string): name is GateName {
  return Object.hasOwn(GATES, name);
}

/** The words of kube-apiserver's flags. */
function parseBool(text: string | undefined): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text ?? '')) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text ?? '') ? false : undefined;
}
