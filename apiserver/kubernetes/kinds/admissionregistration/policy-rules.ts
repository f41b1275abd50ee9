import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  Variable,
} from '../../../../shared/api/types/admissionregistration-v1';
import { parseGroupVersion } from '../../../../shared/api/resources';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
} from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import { UNSET, plainSelectorText } from '../columns/format';
import { labelSelector } from '../rules/label-selectors';
import { choice, forEachItem, invalidForEach, repeatsIn } from '../rules/primitives';
import type { ExpressionValidator } from './match-conditions';
import { validateWebhookRule } from './webhook-configurations';

/** The rules that validating and mutating admission policies and their bindings have in common. */

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const MUTATED_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** The part of a policy's spec that both kinds have. */
export interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

/** What validating a policy depends on besides its spec. */
export interface PolicyContext {
  readonly expressions: ExpressionValidator;
  readonly previous: PolicySpec | undefined;
  /** Whether a variable is among the stored expressions, which may use all libraries. */
  readonly isStoredVariable: (expression: string) => boolean;
}

/** Validates what both kinds of policies have; match conditions that an update leaves as they are count as valid. */
export function validatePolicy(
  spec: PolicySpec,
  { expressions, previous, isStoredVariable }: PolicyContext,
): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints: constraints, variables = [] } = spec;
  const path = 'spec.matchConstraints';
  return [
    ...(failurePolicy === undefined
      ? [required('spec.failurePolicy')]
      : choice(failurePolicy, 'spec.failurePolicy', FAILURE_POLICIES)),
    ...(paramKind === undefined ? [] : validateParamKind(paramKind, 'spec.paramKind')),
    ...(constraints === undefined ? [required(path)] : validateMatchResources(constraints, path)),
    ...(constraints !== undefined && (constraints.resourceRules ?? []).length === 0
      ? [required(`${path}.resourceRules`)]
      : []),
    ...(previous !== undefined && hasSameConditions(spec, previous)
      ? []
      : expressions.conditions(
          spec.matchConditions ?? [],
          'spec.matchConditions',
          previous?.matchConditions,
        )),
    ...forEachItem(variables, 'spec.variables', (variable, at) => [
      ...validateVariableName(variable, at),
      ...expressions.variable(variable, `${at}.expression`, isStoredVariable(variable.expression)),
    ]),
  ];
}

/** Conditions also depend on whether there are parameters. */
function hasSameConditions(spec: PolicySpec, previous: PolicySpec): boolean {
  return (
    deepEqual(spec.paramKind, previous.paramKind) && deepEqual(spec.matchConditions, previous.matchConditions)
  );
}

/** Mutating policies see no deletions. */
export function mutatedOperations(match: MatchResources | undefined, path: string): FieldError[] {
  return forEachItem(match?.resourceRules ?? [], path, ({ operations = [] }) =>
    operations
      .filter((operation) => !MUTATED_OPERATIONS.includes(operation))
      .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, MUTATED_OPERATIONS)),
  );
}

function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: string): FieldError[] {
  const kindProblems = dns1035LabelProblems(kind.toLowerCase());
  return [
    ...validateApiVersion(apiVersion, `${path}.apiVersion`),
    ...(kind === '' ? [required(`${path}.kind`)] : []),
    ...(kind === '' || kindProblems.length === 0
      ? []
      : [
          invalid(
            `${path}.kind`,
            kind,
            `may have mixed case, but should otherwise match: ${kindProblems.join(',')}`,
          ),
        ]),
  ];
}

function validateApiVersion(apiVersion: string, path: string): FieldError[] {
  if (apiVersion === '') return [required(path)];
  const slashes = apiVersion.split('/').length - 1;
  if (slashes > 1) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const { group, version } = parseGroupVersion(apiVersion);
  const groupProblems = group === '' ? [] : dns1123SubdomainProblems(group);
  const versionProblems = dns1035LabelProblems(version);
  return [
    ...(groupProblems.length === 0 ? [] : [invalid(path, group, groupProblems.join(','))]),
    ...(version === '' ? [invalid(path, apiVersion, 'version must be specified')] : []),
    ...(version === '' || versionProblems.length === 0
      ? []
      : [invalid(path, version, versionProblems.join(','))]),
  ];
}

/** Validates which requests a policy or a binding applies to. */
export function validateMatchResources(match: MatchResources, path: string): FieldError[] {
  const {
    matchPolicy,
    namespaceSelector,
    objectSelector,
    resourceRules = [],
    excludeResourceRules = [],
  } = match;
  return [
    ...(matchPolicy === undefined
      ? [required(`${path}.matchPolicy`)]
      : choice(matchPolicy, `${path}.matchPolicy`, MATCH_POLICIES)),
    ...(namespaceSelector === undefined
      ? [required(`${path}.namespaceSelector`)]
      : labelSelector(namespaceSelector, `${path}.namespaceSelector`)),
    ...(objectSelector === undefined
      ? [required(`${path}.objectSelector`)]
      : labelSelector(objectSelector, `${path}.objectSelector`)),
    ...forEachItem(resourceRules, `${path}.resourceRules`, validateNamedRule),
    ...forEachItem(excludeResourceRules, `${path}.excludeResourceRules`, validateNamedRule),
  ];
}

function validateNamedRule(rule: NamedRuleWithOperations, path: string): FieldError[] {
  const names = rule.resourceNames ?? [];
  const isRepeated = repeatsIn(names);
  return [
    ...forEachItem(names, `${path}.resourceNames`, (name, at, index) => [
      ...invalidForEach(pathSegmentProblems(name), name, at),
      ...(isRepeated(index) ? [duplicate(at, name)] : []),
    ]),
    ...validateWebhookRule(rule, path),
  ];
}

const IDENTIFIER = /^[_a-zA-Z]\w*$/;
const RESERVED: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop ' +
    'namespace null package return true var void while'
  ).split(' '),
);

function validateVariableName({ name }: Variable, path: string): FieldError[] {
  const isIdentifier = IDENTIFIER.test(name) && !RESERVED.has(name);
  return [
    ...(name.trim() === '' ? [required(`${path}.name`, 'name is not specified')] : []),
    ...(name.trim() === '' || isIdentifier
      ? []
      : [invalid(`${path}.name`, name, 'must be a valid CEL identifier')]),
  ];
}

/** Validates which objects a binding passes to its policy as parameters. */
export function validateParamRef(ref: ParamRef | undefined, path: string): FieldError[] {
  if (ref === undefined) return [];
  const { name = '', selector, parameterNotFoundAction: action = '' } = ref;
  const isBoth = name !== '' && selector !== undefined;
  const exclusive = 'name and selector are mutually exclusive';
  return [
    ...(name === '' ? [] : invalidForEach(pathSegmentProblems(name), name, `${path}.name`)),
    ...(isBoth ? [forbiddenField(`${path}.name`, exclusive)] : []),
    ...labelSelector(selector, `${path}.selector`),
    ...(isBoth ? [forbiddenField(`${path}.selector`, exclusive)] : []),
    ...(name === '' && selector === undefined
      ? [required(path, 'one of name or selector must be specified')]
      : []),
    ...(action === ''
      ? [required(`${path}.parameterNotFoundAction`)]
      : choice(action, `${path}.parameterNotFoundAction`, ['Deny', 'Allow'])),
  ];
}

/** The cell of a policy's parameters. */
export function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind === undefined ? UNSET : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`;
}

/** The cell of a binding's parameters: objects without a namespace are shown in `*`. */
export function paramRefText(ref: ParamRef | undefined): string {
  const { name = '', namespace = '', selector } = ref ?? {};
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`;
  return selector === undefined ? UNSET : plainSelectorText(selector);
}
