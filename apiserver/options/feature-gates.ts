import { suggestion } from '../../shared/flags/suggestion';

interface Gate {
  readonly stage: 'ALPHA' | 'BETA';
  readonly default: boolean;
}

/** The gates there are, under the names kube-apiserver has for them. */
const GATES = {
  ServerSideApply: { stage: 'BETA', default: true },
} as const satisfies Readonly<Record<string, Gate>>;

type GateName = keyof typeof GATES;

/** Which features are on. */
export type FeatureGates = Readonly<Record<GateName, boolean>>;

export const DEFAULT_FEATURE_GATES: FeatureGates = {
  ServerSideApply: GATES.ServerSideApply.default,
};

export type ParsedFeatureGates =
  | { readonly ok: true; readonly gates: FeatureGates }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads `<gate>=<true|false>` items; the last of two for one gate counts. All errors are told at once. */
export function parseFeatureGates(items: readonly string[]): ParsedFeatureGates {
  const said: Partial<Record<GateName, boolean>> = {};
  const errors: string[] = [];
  for (const item of items) {
    const at = item.indexOf('=');
    const name = (at < 0 ? item : item.slice(0, at)).trim();
    const text = at < 0 ? undefined : item.slice(at + 1).trim();
    const value = parseBool(text);
    if (!isGate(name)) {
      errors.push(`--feature-gates: unknown gate ${name}${suggestion(name, Object.keys(GATES))}`);
    } else if (text === undefined) {
      errors.push(`--feature-gates: ${name} needs a value: ${name}=true or ${name}=false`);
    } else if (value === undefined) {
      const hint = suggestion(text, ['true', 'false']);
      errors.push(`--feature-gates: the value of ${name} must be true or false, not "${text}"${hint}`);
    } else said[name] = value;
  }
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, gates: { ...DEFAULT_FEATURE_GATES, ...said } };
}

/** The gates as the help lists them. */
export function describeGates(): string {
  return Object.entries<Gate>(GATES)
    .map(([name, gate]) => `${name}=true|false (${gate.stage} - default=${String(gate.default)})`)
    .join(', ');
}

function isGate(name: string): name is GateName {
  return Object.hasOwn(GATES, name);
}

/** The words of kube-apiserver's flags. */
function parseBool(text: string | undefined): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text ?? '')) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text ?? '') ? false : undefined;
}
