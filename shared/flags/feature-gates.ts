import { ownKeyMap } from '../own-key-map';
import type { Gate, Stage } from './feature-gate-table';
import { GATES, isGateOfAnyLevel, isOnByDefault } from './feature-gate-table';
import { suggestion } from './suggestion';

/** Gates that set all unnamed gates of a stage. */
const STAGE_GATES = ownKeyMap<Stage>({ AllAlpha: 'ALPHA', AllBeta: 'BETA' });

const KNOWN_NAMES: readonly string[] = [...STAGE_GATES.keys(), ...GATES.keys()];

/** Which of a program's own features are on. */
export type FeatureGates<Name extends string> = Readonly<Record<Name, boolean>>;

export type ParsedFeatureGates<Name extends string> =
  | {
      readonly ok: true;
      readonly gates: FeatureGates<Name>;
      /** Sentences to log at the start. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Parses `<gate>=<true|false>` items; the last one for a gate wins, and a gate's own item wins over its stage's. `own` are the gates with
 * an effect in this program; all others are accepted, so that one value works for all programs of a cluster, and those of other API levels
 * too, because the store decides the level. All errors are reported at once.
 */
export function parseFeatureGates<const Name extends string>(
  items: readonly string[],
  own: readonly Name[],
): ParsedFeatureGates<Name> {
  const said = new Map<string, boolean>();
  const errors: string[] = [];
  const foreign = new Set<string>();
  for (const item of items) {
    const read = readItem(item);
    if ('error' in read) errors.push(`--feature-gates: ${read.error}`);
    else if (KNOWN_NAMES.includes(read.name)) said.set(read.name, read.value);
    else foreign.add(read.name);
  }
  if (errors.length > 0) return { ok: false, errors };
  const gates = Object.fromEntries(own.map((name) => [name, valueOf(name, said)]));
  const warnings = [...foreign].map(
    (name) => `the feature gate ${name} belongs to another API level: setting it does nothing`,
  );
  return {
    ok: true,
    gates: gates as FeatureGates<Name>,
    warnings: [...warnings, ...warningsOf(said, new Set(own))],
  };
}

function readItem(
  item: string,
): { readonly name: string; readonly value: boolean } | { readonly error: string } {
  const at = item.indexOf('=');
  const name = (at < 0 ? item : item.slice(0, at)).trim();
  const text = at < 0 ? undefined : item.slice(at + 1).trim();
  const value = parseBool(text);
  if (!KNOWN_NAMES.includes(name) && !isGateOfAnyLevel(name))
    return { error: `unknown gate ${name}${suggestion(name, KNOWN_NAMES)}` };
  if (text === undefined) return { error: `${name} needs a value: ${name}=true or ${name}=false` };
  if (value === undefined) {
    const hint = suggestion(text, ['true', 'false']);
    return { error: `the value of ${name} must be true or false, not "${text}"${hint}` };
  }
  const gate = GATES.get(name);
  if (gate?.isLocked === true && value !== gate.default) {
    return {
      error: `cannot set feature gate ${name} to ${String(value)}, feature is locked to ${String(gate.default)}`,
    };
  }
  return { name, value };
}

/** A gate's own word, else that for its stage, else its default. */
function valueOf(name: string, said: ReadonlyMap<string, boolean>): boolean {
  const gate = GATES.get(name);
  const ofStage = [...STAGE_GATES].find(([, stage]) => stage === gate?.stage);
  return said.get(name) ?? said.get(ofStage?.[0] ?? '') ?? isOnByDefault(name);
}

function warningsOf(said: ReadonlyMap<string, boolean>, own: ReadonlySet<string>): readonly string[] {
  return [...said].flatMap(([name, value]) => {
    const gate = GATES.get(name);
    if (gate?.stage === 'GA') {
      const isVain = gate.isLocked || !own.has(name);
      const effect = isVain ? 'setting it does nothing, and ' : '';
      return [`the feature gate ${name} is GA: ${effect}a later release will not know it`];
    }
    if (gate?.stage === 'DEPRECATED') {
      return [`the feature gate ${name} is deprecated: a later release will not know it`];
    }
    return gate === undefined || own.has(name) || value === gate.default
      ? []
      : [`the feature gate ${name} switches nothing in this program`];
  });
}

/** Returns the gates for the help: those with an effect in this program, then the others. */
export function describeGates(own: readonly string[]): string {
  const mine = new Set(own);
  const others = [...GATES].filter(([name]) => !mine.has(name));
  return [
    `The gates: ${[...STAGE_GATES].map(([name, stage]) => `${name}=true|false (${stage} - default=false)`).join(', ')}`,
    ...own.flatMap((name) => {
      const gate = GATES.get(name);
      return gate === undefined ? [] : [`, ${describeGate(name, gate)}`];
    }),
    `. Taken, and without effect on this program: ${others.map(([name, gate]) => describeGate(name, gate)).join(', ')}.`,
  ].join('');
}

function describeGate(name: string, gate: Gate): string {
  const value = String(gate.default);
  return gate.isLocked
    ? `${name}=${value} (GA - locked to ${value})`
    : `${name}=true|false (${gate.stage} - default=${value})`;
}

/** The words of kube-apiserver's flags. */
function parseBool(text: string | undefined): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text ?? '')) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text ?? '') ? false : undefined;
}
