import type { ApiObject } from '../../../shared/meta/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../strategy';
import { statusSubresource } from '../strategy';
import type { Json } from './accessors';
import { integer, optionalRecord, record, records, strings, text } from './accessors';
import { MANDATORY_FLOW_SCHEMAS, validateFlowConditions, validateMandatory } from './mandatory-flow';
import { choice, forEachItem, invalidForEach, requiredText } from './primitives';

/** The one schema that may be first, and the level that is never limited. */
export const EXEMPT = 'exempt';
const PRECEDENCE_MAX = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export const flowSchemaRules: Pick<Strategy, 'validate' | 'subresources'> = {
  validate: validateFlowSchema,
  subresources: { status: { ...statusSubresource, validateUpdate: validateFlowConditions } },
};

function validateFlowSchema(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const method = optionalRecord(spec['distinguisherMethod']);
  return [
    ...validatePrecedence(integer(spec['matchingPrecedence']) ?? 0, object.metadata.name ?? ''),
    ...requiredText(
      record(spec['priorityLevelConfiguration'])['name'],
      'spec.priorityLevelConfiguration.name',
      dns1123SubdomainProblems,
    ),
    ...(method === undefined ? [] : choice(method['type'], 'spec.distinguisherMethod.type', METHODS)),
    ...forEachItem(records(spec['rules']), 'spec.rules', validateRule),
    ...validateMandatory(object, MANDATORY_FLOW_SCHEMAS),
  ];
}

function validatePrecedence(precedence: number, name: string): FieldError[] {
  const path = 'spec.matchingPrecedence';
  return [
    ...(precedence <= 0 ? [invalid(path, precedence, 'must be a positive value')] : []),
    ...(precedence > PRECEDENCE_MAX
      ? [invalid(path, precedence, `must not be greater than ${String(PRECEDENCE_MAX)}`)]
      : []),
    ...(precedence === 1 && name !== EXEMPT
      ? [invalid(path, precedence, `only the schema named '${EXEMPT}' may have matchingPrecedence 1`)]
      : []),
  ];
}

function validateRule(rule: Json, path: string): FieldError[] {
  const subjects = records(rule['subjects']);
  const resources = records(rule['resourceRules']);
  const urls = records(rule['nonResourceRules']);
  return [
    ...(subjects.length === 0
      ? [required(`${path}.subjects`, 'subjects must contain at least one value')]
      : []),
    ...forEachItem(subjects, `${path}.subjects`, validateSubject),
    ...(resources.length + urls.length === 0
      ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...forEachItem(resources, `${path}.resourceRules`, validateResourceRule),
    ...forEachItem(urls, `${path}.nonResourceRules`, validateUrlRule),
  ];
}

type SubjectRule = (subject: Json, path: string) => FieldError[];

/** The field that belongs to each kind of subject. */
const SUBJECTS: Readonly<Record<string, { readonly field: string; readonly rule: SubjectRule }>> = {
  Group: { field: 'group', rule: (group, path) => requiredText(group['name'], `${path}.name`) },
  ServiceAccount: {
    field: 'serviceAccount',
    rule: (account, path) => [
      ...requiredText(account['name'], `${path}.name`, (name) =>
        name === '*' ? [] : dns1123SubdomainProblems(name),
      ),
      ...requiredText(account['namespace'], `${path}.namespace`, dns1123LabelProblems),
    ],
  },
  User: { field: 'user', rule: (user, path) => requiredText(user['name'], `${path}.name`) },
};

function validateSubject(subject: Json, path: string): FieldError[] {
  const kind = text(subject['kind']);
  const own = SUBJECTS[kind];
  if (own === undefined) return [notSupported(`${path}.kind`, kind, Object.keys(SUBJECTS))];
  const value = optionalRecord(subject[own.field]);
  const others = Object.values(SUBJECTS).filter(
    ({ field }) => field !== own.field && optionalRecord(subject[field]) !== undefined,
  );
  return [
    ...(value === undefined
      ? [required(`${path}.${own.field}`, `${own.field} is required when subject kind is '${kind}'`)]
      : own.rule(value, `${path}.${own.field}`)),
    ...others.map(({ field }) =>
      forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not its own`),
    ),
  ];
}

function validateResourceRule(rule: Json, path: string): FieldError[] {
  const namespaces = strings(rule['namespaces']);
  const isScopeless = namespaces.length === 0 && rule['clusterScope'] === true;
  return [
    ...validateVerbs(rule, path),
    ...asteriskAlone(rule, 'apiGroups', path),
    ...asteriskAlone(rule, 'resources', path),
    ...(isScopeless ? [] : asteriskAlone(rule, 'namespaces', path)),
    ...forEachItem(namespaces, `${path}.namespaces`, (namespace, at) =>
      namespace === '*' ? [] : invalidForEach(dns1123LabelProblems(namespace), namespace, at),
    ),
  ];
}

function validateUrlRule(rule: Json, path: string): FieldError[] {
  return [
    ...validateVerbs(rule, path),
    ...asteriskAlone(rule, 'nonResourceURLs', path),
    ...forEachItem(strings(rule['nonResourceURLs']), `${path}.nonResourceURLs`, validateUrl),
  ];
}

function validateVerbs(rule: Json, path: string): FieldError[] {
  const verbs = strings(rule['verbs']);
  const isKnown = verbs.includes('*') || verbs.every((verb) => VERBS.includes(verb));
  return [
    ...asteriskAlone(rule, 'verbs', path),
    ...(isKnown ? [] : [notSupported(`${path}.verbs`, verbs, [...VERBS, '*'])]),
  ];
}

function asteriskAlone(rule: Json, field: string, path: string): FieldError[] {
  const values = strings(rule[field]);
  const at = `${path}.${field}`;
  if (values.length === 0) return [required(at, `must contain at least one value`)];
  return values.length > 1 && values.includes('*')
    ? [invalid(at, values, `if '*' is present, must not specify other ${field}`)]
    : [];
}

function validateUrl(url: string, path: string): FieldError[] {
  if (url === '*') return [];
  if (url === '') return [invalid(path, url, 'must not be empty')];
  if (!url.startsWith('/')) return [invalid(path, url, "must start with slash '/'")];
  if (url.includes(' ')) return [invalid(path, url, 'must not contain white-space')];
  if (url.includes('//')) return [invalid(path, url, 'must not contain double slash')];
  const asterisk = url.indexOf('*');
  const isAtEnd = asterisk < 0 || (asterisk === url.length - 1 && url.endsWith('/*'));
  return isAtEnd ? [] : [invalid(path, url, "wildcard can only do suffix matching: '/prefix/*'")];
}
