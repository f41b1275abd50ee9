import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '../../../../shared/api/types/flowcontrol-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { goStruct } from '../../../../shared/errors/go-values';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { ObjectTable } from '../../../engine/registry/object-table';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, invalidForEach, optionalForm, requiredText } from '../rules/primitives';
import { MANDATORY_FLOW_SCHEMAS, validateFlowConditions, validateMandatory } from './mandatory-flow';

/** The one schema that may be first, and the level that is never limited. */
export const EXEMPT = 'exempt';
const PRECEDENCE_MAX = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

const flowSchemaRules: Pick<Strategy<FlowSchema>, 'validate' | 'subresources'> = {
  validate: validateFlowSchema,
  subresources: { status: { ...statusSubresource, validateUpdate: validateFlowConditions } },
};

/** Upstream shows the method where it names its type. */
function unknownMethod(type: string): FieldError {
  const shown = goStruct('flowcontrol.FlowDistinguisherMethod', { Type: goQuote(type) });
  return notSupported('spec.distinguisherMethod.type', shown, METHODS);
}

function validateFlowSchema(object: FlowSchema): FieldError[] {
  const {
    matchingPrecedence,
    distinguisherMethod: method,
    priorityLevelConfiguration,
    rules = [],
  } = object.spec;
  const { name: level } = priorityLevelConfiguration;
  const levelPath = 'spec.priorityLevelConfiguration.name';
  return [
    ...validatePrecedence(matchingPrecedence, object.metadata.name ?? ''),
    ...(method === undefined || METHODS.includes(method.type) ? [] : [unknownMethod(method.type)]),
    ...(level === '' ? [required(levelPath, 'must reference a priority level')] : []),
    ...optionalForm(level, levelPath, dns1123SubdomainProblems),
    ...forEachItem(rules, 'spec.rules', validateRule),
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

function validateRule(rule: PolicyRulesWithSubjects, path: string): FieldError[] {
  const subjects = rule.subjects ?? [];
  const { resourceRules: resources = [], nonResourceRules: urls = [] } = rule;
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

interface SubjectKind {
  readonly field: 'group' | 'serviceAccount' | 'user';
  /** What is wrong with the field, which is there. */
  readonly rule: (subject: Subject, path: string) => FieldError[];
}

/** The field that belongs to each kind of subject. */
const SUBJECTS: ReadonlyMap<string, SubjectKind> = new Map<string, SubjectKind>([
  [
    'ServiceAccount',
    {
      field: 'serviceAccount',
      rule: ({ serviceAccount: account }, path) =>
        account === undefined ? [] : validateAccount(account, path),
    },
  ],
  ['User', { field: 'user', rule: ({ user }, path) => requiredText(user?.name, `${path}.name`) }],
  ['Group', { field: 'group', rule: ({ group }, path) => requiredText(group?.name, `${path}.name`) }],
]);

function validateAccount({ name: account, namespace }: ServiceAccountSubject, path: string): FieldError[] {
  return [
    ...requiredText(account, `${path}.name`, (name) => (name === '*' ? [] : dns1123SubdomainProblems(name))),
    ...(namespace === ''
      ? [required(`${path}.namespace`, 'must specify namespace for service account')]
      : invalidForEach(dns1123LabelProblems(namespace), namespace, `${path}.namespace`)),
  ];
}

function validateSubject(subject: Subject, path: string): FieldError[] {
  const { kind } = subject;
  const own = SUBJECTS.get(kind);
  if (own === undefined) return [notSupported(`${path}.kind`, kind, [...SUBJECTS.keys()].sort())];
  const others = [...SUBJECTS].filter(([, { field }]) => field !== own.field && subject[field] !== undefined);
  return [
    ...(subject[own.field] === undefined
      ? [required(`${path}.${own.field}`, `${own.field} is required when subject kind is '${kind}'`)]
      : own.rule(subject, `${path}.${own.field}`)),
    ...others.map(([other, { field }]) =>
      forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`),
    ),
  ];
}

function validateResourceRule(rule: ResourcePolicyRule, path: string): FieldError[] {
  const namespaces = rule.namespaces ?? [];
  const isScopeless = namespaces.length === 0 && rule.clusterScope === true;
  return [
    ...validateVerbs(rule.verbs, path),
    ...asteriskAlone(rule.apiGroups ?? [], `${path}.apiGroups`, {
      none: 'resource rules must supply at least one api group',
      others: 'api groups',
    }),
    ...asteriskAlone(rule.resources ?? [], `${path}.resources`, {
      none: 'resource rules must supply at least one resource',
      others: 'resources',
    }),
    ...(isScopeless
      ? []
      : asteriskAlone(namespaces, `${path}.namespaces`, {
          none: 'resource rules that are not cluster scoped must supply at least one namespace',
          others: 'namespaces',
        })),
    ...(namespaces.includes('*') ? [] : forEachItem(namespaces, `${path}.namespaces`, validateNamespace)),
  ];
}

function validateNamespace(namespace: string, path: string): FieldError[] {
  return dns1123LabelProblems(namespace).map((problem) =>
    invalid(path, namespace, `each member of this list must be '*' or a DNS-1123 label; ${problem}`),
  );
}

function validateUrlRule(rule: NonResourcePolicyRule, path: string): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const at = `${path}.nonResourceURLs`;
  return [
    ...validateVerbs(rule.verbs, path),
    ...asteriskAlone(urls, at, {
      none: 'nonResourceURLs must contain at least one value',
      others: 'non-resource URLs',
    }),
    ...(urls.includes('*') ? [] : forEachItem(urls, at, validateUrl)),
  ];
}

function validateVerbs(given: readonly string[] | null, path: string): FieldError[] {
  const verbs = given ?? [];
  const isKnown = verbs.includes('*') || verbs.every((verb) => VERBS.includes(verb));
  return [
    ...asteriskAlone(verbs, `${path}.verbs`, {
      none: 'verbs must contain at least one value',
      others: 'verbs',
    }),
    ...(isKnown ? [] : [notSupported(`${path}.verbs`, verbs, VERBS)]),
  ];
}

/** Checks that a list is not empty, and that an asterisk is its only item. The texts complete the messages. */
function asteriskAlone(
  values: readonly string[],
  path: string,
  { none, others }: { readonly none: string; readonly others: string },
): FieldError[] {
  if (values.length === 0) return [required(path, none)];
  return values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${others}`)]
    : [];
}

function validateUrl(url: string, path: string): FieldError[] {
  if (url === '') return [invalid(path, url, 'must not be empty')];
  if (!url.startsWith('/')) return [invalid(path, url, 'must start with slash')];
  if (url.includes(' ')) return [invalid(path, url, 'must not contain white-space')];
  if (url.includes('//')) return [invalid(path, url, 'must not contain double slash')];
  const asterisk = url.indexOf('*');
  const isAtEnd = asterisk < 0 || (asterisk === url.length - 1 && url.endsWith('/*'));
  return isAtEnd ? [] : [invalid(path, url, 'wildcard can only do suffix matching')];
}

/** In the order in which the schemas are tried. */
const flowSchemaTable: ObjectTable<FlowSchema> = {
  ...tableOf<FlowSchema>([
    NAME,
    { name: 'PriorityLevel', cell: ({ spec }) => spec.priorityLevelConfiguration.name },
    { name: 'MatchingPrecedence', cell: ({ spec }) => spec.matchingPrecedence },
    { name: 'DistinguisherMethod', cell: ({ spec }) => spec.distinguisherMethod?.type ?? NONE },
    AGE,
    { name: 'MissingPL', cell: missingPriorityLevel },
  ]),
  rowOrder: 'spec.matchingPrecedence',
};

function missingPriorityLevel({ status }: FlowSchema): string {
  const dangling = status?.conditions?.find(({ type }) => type === 'Dangling');
  return dangling === undefined ? '?' : (dangling.status ?? '');
}

export const flowSchemas: Kind<FlowSchema> = {
  strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...flowSchemaRules },
  table: flowSchemaTable,
};
