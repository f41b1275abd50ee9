import { fieldsOf, text } from '../../../../shared/object/accessors';
import { isJsonObject } from '../../../../shared/object/clone';
import type { Policy, Standard } from './policy';
import { DEFAULT_POLICY, MODES, parseLevel, parseVersion } from './policy';

export interface PodSecurityConfiguration {
  /** What namespaces demand that do not say it by labels. */
  readonly defaults: Policy;
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly exemptUsers: ReadonlySet<string>;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
}

/** As written in the file: `PodSecurityConfiguration` of `pod-security.admission.config.k8s.io`. */
interface Written {
  readonly defaults: object;
  readonly exemptions: object;
}

/** Returns why the configuration is invalid, or undefined. */
export function podSecurityProblem(configuration: unknown): string | undefined {
  try {
    podSecurityConfiguration(configuration);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Parses the configuration; without one everything is privileged and nothing is exempt. Throws an Error if it is invalid. */
export function podSecurityConfiguration(configuration: unknown): PodSecurityConfiguration {
  const given = fieldsOf<Written>(isJsonObject(configuration) ? configuration : {});
  const written = fieldsOf<Readonly<Record<string, unknown>>>(given.defaults);
  const exemptions = fieldsOf<Readonly<Record<string, unknown>>>(given.exemptions);
  const standards = MODES.map((mode) => [mode, standardOf(mode, written)] as const);
  return {
    defaults: { ...DEFAULT_POLICY, ...Object.fromEntries(standards) },
    exemptNamespaces: namesIn(exemptions, 'namespaces'),
    exemptUsers: namesIn(exemptions, 'usernames'),
    exemptRuntimeClasses: namesIn(exemptions, 'runtimeClasses'),
  };
}

function standardOf(
  mode: (typeof MODES)[number],
  written: Readonly<Partial<Record<string, unknown>>>,
): Standard {
  const level = written[mode] === undefined ? 'privileged' : text(written[mode]);
  const version = written[`${mode}-version`] === undefined ? 'latest' : text(written[`${mode}-version`]);
  const parsed = { level: parseLevel(level, 'restricted'), version: parseVersion(version) };
  if (parsed.level.error !== undefined) throw new Error(`defaults.${mode}: ${parsed.level.error}`);
  if (parsed.version.error !== undefined)
    throw new Error(`defaults.${mode}-version: ${parsed.version.error}`);
  return { level: parsed.level.value, version: parsed.version.value };
}

function namesIn(exemptions: Readonly<Partial<Record<string, unknown>>>, field: string): ReadonlySet<string> {
  const names = exemptions[field] ?? [];
  if (!Array.isArray(names)) throw new Error(`exemptions.${field} must be a list`);
  return new Set(names.map((name: unknown) => text(name)));
}
