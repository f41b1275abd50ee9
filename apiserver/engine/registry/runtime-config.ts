import type { ResourceRow } from '../../../shared/api/resources';
import { parseGroupVersion, RESOURCES, resourcesAt } from '../../../shared/api/resources';
import { ALL_LEVELS } from '../../../shared/api-level';
import { apiVersionOf } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';

/** The value of `--runtime-config`, by key: `api/all`, `batch/v1`, `extensions/v1beta1/ingresses`. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

export const DEFAULT_RUNTIME_CONFIG: RuntimeConfig = new Map();

export type ParsedRuntimeConfig =
  | { readonly ok: true; readonly config: RuntimeConfig; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] };

const ALL = 'api/all';

/** Keys for versions of one stability, from the weakest to the strongest claim: a later one overrides an earlier one. */
const STABILITIES: readonly (readonly [key: string, pattern: RegExp])[] = [
  [ALL, /^/],
  ['api/ga', /^v\d+$/],
  ['api/beta', /^v\d+beta\d+$/],
  ['api/alpha', /^v\d+alpha\d+$/],
];

const STABILITY_KEYS: ReadonlySet<string> = new Set(STABILITIES.map(([key]) => key));

/** The only group version in which single resources can be switched. */
const SWITCHABLE_RESOURCES = apiVersionOf({ group: GROUP.extensions, version: 'v1beta1' });

/**
 * Parses `<key>[=<value>]` items; the default value is true, the last of equal keys counts. Returns all
 * errors at once. Keys of single resources outside `extensions/v1beta1` have no effect and cause warnings.
 */
export function parseRuntimeConfig(items: readonly string[]): ParsedRuntimeConfig {
  const texts = new Map(items.map(splitItem));
  const errors: string[] = [];
  const warnings: string[] = [];
  const config = new Map<string, boolean>();
  for (const [key, text] of texts) {
    const problem = keyProblem(key);
    const value = parseValue(text);
    const { group, version } = parseGroupVersion(key.split('/').slice(0, 2).join('/'));
    if (problem !== undefined) errors.push(`--runtime-config: ${problem}`);
    else if (value === undefined) {
      errors.push(`--runtime-config: the value of ${key} must be true or false, not "${text}"`);
    } else if (!STABILITY_KEYS.has(key) && !isVersionIn(RESOURCES, group, version)) {
      warnings.push(`--runtime-config: ${key} belongs to another API level and has no effect`);
    } else if (isUnswitchable(key)) {
      warnings.push(
        `--runtime-config: ${key} is ignored: single resources can be switched in ${SWITCHABLE_RESOURCES} only`,
      );
    } else config.set(key, value);
  }
  if (texts.size === 1 && config.get(ALL) === false) {
    errors.push(`--runtime-config: with only ${ALL}=false nothing would be served`);
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, config, warnings };
}

/** Whether a resource is served: the most specific key decides, else the default of its row. */
export function isEnabled(
  config: RuntimeConfig,
  resource: Pick<ResourceRow, 'group' | 'version' | 'resource' | 'isServedByDefault'>,
): boolean {
  const { group, version } = resource;
  const apiVersion = apiVersionOf({ group: group === '' ? 'core' : group, version });
  const byStability = STABILITIES.reduce<boolean | undefined>(
    (said, [key, pattern]) => (pattern.test(version) ? (config.get(key) ?? said) : said),
    undefined,
  );
  const isVersionOn = config.get(apiVersion) ?? byStability ?? resource.isServedByDefault;
  return isVersionOn && config.get(`${apiVersion}/${resource.resource}`) !== false;
}

function splitItem(item: string): [key: string, value: string] {
  const at = item.indexOf('=');
  return at < 0 ? [item.trim(), ''] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
}

function parseValue(text: string): boolean | undefined {
  if (text === '') return true;
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** What is wrong with a key, or undefined. */
function keyProblem(key: string): string | undefined {
  if (STABILITY_KEYS.has(key)) return undefined;
  const parts = key.split('/');
  if (parts.length !== 2 && parts.length !== 3) return `invalid key ${key}`;
  const { group, version } = parseGroupVersion(parts.slice(0, 2).join('/'));
  if (group === '' || !ALL_RESOURCES.some((row) => row.group === group)) return `unknown API group ${group}`;
  if (isVersionIn(ALL_RESOURCES, group, version)) return undefined;
  return `there is no version ${version} of the group ${group}`;
}

/** Those of all API levels. Flags are read before the store says which level it has. */
const ALL_RESOURCES = resourcesAt(ALL_LEVELS);

function isVersionIn(rows: readonly ResourceRow[], group: string, version: string): boolean {
  return rows.some((row) => row.group === group && row.version === version);
}

function isUnswitchable(key: string): boolean {
  const parts = key.split('/');
  return parts.length === 3 && parts.slice(0, 2).join('/') !== SWITCHABLE_RESOURCES;
}
