import { readFileSync } from 'node:fs';
import { isJsonObject } from '../../../../shared/object/clone';
import { ABAC_GROUP, USER_GROUP } from '../../../../shared/names';

/** One line of a policy file. `*` matches everything; an empty field matches only the empty value. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

export interface PolicyFile {
  readonly policies: readonly AbacPolicy[];
  /** The number of lines without a version. */
  readonly unversioned: number;
}

export type ParsedPolicies =
  ({ readonly ok: true } & PolicyFile) | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the file of `--authorization-policy-file`, one policy per line. Reports every malformed line. */
export function readPolicyFile(file: string): ParsedPolicies {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { ok: false, problems: [`error reading policy file ${file}: ${(error as Error).message}`] };
  }
  const policies: AbacPolicy[] = [];
  const problems: string[] = [];
  let unversioned = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    try {
      const { policy, isVersioned } = parseLine(trimmed);
      policies.push(policy);
      if (!isVersioned) unversioned += 1;
    } catch (error) {
      const place = `${file}, line ${String(index + 1)}: ${trimmed}`;
      problems.push(`error reading policy file ${place}: ${(error as Error).message}`);
    }
  }
  return problems.length === 0 ? { ok: true, policies, unversioned } : { ok: false, problems };
}

interface Line {
  readonly policy: AbacPolicy;
  readonly isVersioned: boolean;
}

function parseLine(line: string): Line {
  const value: unknown = JSON.parse(line);
  if (!isJsonObject(value)) throw new Error('not an object');
  const { apiVersion = '', kind = '', spec = {} } = value as Written;
  if (apiVersion === '' && kind === '') {
    return { policy: convertUnversioned(fieldsOf(value, UNVERSIONED_FIELDS)), isVersioned: false };
  }
  if (kind !== 'Policy' || apiVersion !== VERSION) {
    throw new Error(
      `it is ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}, not "Policy" of "${VERSION}"`,
    );
  }
  if (!isJsonObject(spec)) throw new Error('spec is not an object');
  return { policy: expandWildcards(fieldsOf(spec, FIELDS)), isVersioned: true };
}

interface Written {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly spec?: unknown;
}

const VERSION = `${ABAC_GROUP}/v1beta1`;

const UNVERSIONED_FIELDS = ['user', 'group', 'resource', 'namespace'] as const;
const FIELDS = [...UNVERSIONED_FIELDS, 'apiGroup', 'nonResourcePath'] as const;

/** Reads the known fields of a policy and ignores the others. */
function fieldsOf(value: object, known: readonly (typeof FIELDS)[number][]): AbacPolicy {
  const found = new Map<string, unknown>(Object.entries(value));
  const text = (field: (typeof FIELDS)[number]): string => {
    const given = known.includes(field) ? (found.get(field) ?? '') : '';
    if (typeof given !== 'string') throw new Error(`${field} must be a string`);
    return given;
  };
  const readonly = found.get('readonly') ?? false;
  if (typeof readonly !== 'boolean') throw new Error('readonly must be true or false');
  return {
    user: text('user'),
    group: text('group'),
    readonly,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** `*` for user or group means all authenticated users. */
function expandWildcards(policy: AbacPolicy): AbacPolicy {
  if (policy.user !== '*' && policy.group !== '*') return policy;
  return { ...policy, user: '', group: USER_GROUP.authenticated };
}

/** Without a version, an absent field matches everything. */
function convertUnversioned(policy: AbacPolicy): AbacPolicy {
  const { user, group, resource, namespace } = policy;
  return expandWildcards({
    ...policy,
    group: user === '' && group === '' ? USER_GROUP.authenticated : group,
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    namespace: namespace === '' ? '*' : namespace,
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  });
}
