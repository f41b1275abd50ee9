import { readFileSync } from 'node:fs';
import { GROUP } from '../../../shared/names';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { parseYaml } from '../encoding/yaml';
import type { AuditVersion } from './event';
import { AUDIT_VERSIONS, LEVELS, STAGES } from './event';
import type { AuditPolicy, GroupResources, PolicyRule } from './policy';

export interface ReadPolicy {
  readonly policy: AuditPolicy;
  readonly version: AuditVersion;
}

/**
 * Reads the file of `--audit-policy-file`. Throws an Error that names every problem with its field. Unknown fields are errors, because a
 * misspelled rule would silently leave requests unrecorded.
 */
export function readPolicyFile(file: string): ReadPolicy {
  try {
    return parsePolicy(readFileSync(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the audit policy ${file} cannot be used: ${why}`, { cause: error });
  }
}

/** Parses one YAML or JSON document. */
export function parsePolicy(bytes: Buffer): ReadPolicy {
  const faults = new Faults();
  const document = faults.fields(parseYaml(bytes), '', POLICY_FIELDS);
  const version = AUDIT_VERSIONS.find((each) => document.apiVersion === `${GROUP.audit}/${each}`);
  if (version === undefined || document.kind !== 'Policy') {
    const known = AUDIT_VERSIONS.map((each) => `${GROUP.audit}/${each}`).join(', ');
    throw new Error(`it must have kind Policy and one of the apiVersions ${known}`);
  }
  const rules = faults.list(document.rules, 'rules').map((rule, index) => {
    return readRule(faults, rule, `rules[${String(index)}]`);
  });
  if (rules.length === 0) faults.add('rules', 'must not be empty');
  const policy = { rules, omitStages: faults.words(document.omitStages, 'omitStages', STAGES) };
  faults.throwIfAny();
  return { policy, version };
}

const POLICY_FIELDS = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages'] as const;
const RULE_FIELDS = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
] as const;
const RESOURCES_FIELDS = ['group', 'resources', 'resourceNames'] as const;

function readRule(faults: Faults, value: unknown, path: string): PolicyRule {
  const fields = faults.fields(value, path, RULE_FIELDS);
  const level = LEVELS.find((each) => each === fields.level);
  if (level === undefined) faults.add(`${path}.level`, `must be one of ${LEVELS.join(', ')}`);
  const rule: PolicyRule = {
    level: level ?? 'None',
    users: faults.strings(fields.users, `${path}.users`),
    userGroups: faults.strings(fields.userGroups, `${path}.userGroups`),
    verbs: faults.strings(fields.verbs, `${path}.verbs`),
    resources: faults
      .list(fields.resources, `${path}.resources`)
      .map((each, index) => readResources(faults, each, `${path}.resources[${String(index)}]`)),
    namespaces: faults.strings(fields.namespaces, `${path}.namespaces`),
    nonResourceURLs: faults.strings(fields.nonResourceURLs, `${path}.nonResourceURLs`),
    omitStages: faults.words(fields.omitStages, `${path}.omitStages`, STAGES),
  };
  checkUrls(faults, rule, `${path}.nonResourceURLs`);
  return rule;
}

function checkUrls(faults: Faults, rule: PolicyRule, path: string): void {
  for (const [index, url] of rule.nonResourceURLs.entries()) {
    if (url === '*') continue;
    const at = `${path}[${String(index)}]`;
    if (!url.startsWith('/')) faults.add(at, 'must begin with a slash');
    if (url.slice(0, -1).includes('*')) faults.add(at, 'may have a * at its end only');
  }
  const isOfResources = rule.resources.length > 0 || rule.namespaces.length > 0;
  if (rule.nonResourceURLs.length > 0 && isOfResources) {
    faults.add(path, 'a rule cannot be about both resources and other URLs');
  }
}

function readResources(faults: Faults, value: unknown, path: string): GroupResources {
  const fields = faults.fields(value, path, RESOURCES_FIELDS);
  const { group = '' } = fields;
  if (typeof group !== 'string') faults.add(`${path}.group`, 'must be a string');
  else if (group !== '') {
    // A group with a version is a common mistake and would match nothing.
    for (const problem of dns1123SubdomainProblems(group)) faults.add(`${path}.group`, problem);
  }
  const resources = faults.strings(fields.resources, `${path}.resources`);
  const resourceNames = faults.strings(fields.resourceNames, `${path}.resourceNames`);
  if (resourceNames.length > 0 && resources.length === 0) {
    faults.add(`${path}.resourceNames`, 'needs at least one resource beside it');
  }
  return { group: typeof group === 'string' ? group : '', resources, resourceNames };
}

/** Collects problems while values are read; invalid values count as absent. */
class Faults {
  readonly #faults: string[] = [];

  add(path: string, problem: string): void {
    this.#faults.push(path === '' ? problem : `${path}: ${problem}`);
  }

  throwIfAny(): void {
    if (this.#faults.length > 0) throw new Error(this.#faults.join('; '));
  }

  fields<Field extends string>(
    value: unknown,
    path: string,
    known: readonly Field[],
  ): Readonly<Partial<Record<Field, unknown>>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.add(path, 'must be an object');
      return {} as Readonly<Partial<Record<Field, unknown>>>;
    }
    for (const name of Object.keys(value)) {
      if (!known.some((each) => each === name))
        this.add(path === '' ? name : `${path}.${name}`, 'is no known field');
    }
    return value as Readonly<Partial<Record<Field, unknown>>>;
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value as readonly unknown[];
    this.add(path, 'must be a list');
    return [];
  }

  strings(value: unknown, path: string): readonly string[] {
    return this.list(value, path).filter((each, index): each is string => {
      if (typeof each === 'string') return true;
      this.add(`${path}[${String(index)}]`, 'must be a string');
      return false;
    });
  }

  words<Word extends string>(value: unknown, path: string, known: readonly Word[]): readonly Word[] {
    return this.list(value, path).flatMap((each, index) => {
      const word = known.find((one) => one === each);
      if (word !== undefined) return [word];
      this.add(`${path}[${String(index)}]`, `must be one of ${known.join(', ')}`);
      return [];
    });
  }
}
