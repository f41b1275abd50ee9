import { COUNT_MAX } from '../cost/ranges';
import { ALL_RELEASES, Environment } from '../environment';
import { rulesOf } from './compiled-rules';
import type { CompiledRule } from './compiled-rules';
import { REQUEST_BYTES_MAX, declareData, isEmbedded, isSchema, notNegative } from './data-types';
import type { DataType, JsonSchema, Structs, ValidationRule } from './data-types';
import { readFieldPath } from './field-path';
import { ROOT_TYPE } from './rule-tree';

/** The most that one rule may be estimated to cost (k8s.io/apiextensions-apiserver `apis/apiextensions/validation`). */
const RULE_COST_MAX = 10_000_000;
/** The most that all rules of one schema may be estimated to cost. */
const SCHEMA_COST_MAX = 100_000_000;
/** The most rules that are named when a schema costs too much. */
const NAMED_MAX = 4;
/** The reasons that a rule may give, in the order in which messages list them. */
export const RULE_REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

/** What is wrong with the rules of a schema. */
export interface DefinitionProblem {
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'InternalError';
  readonly field: string;
  readonly value?: unknown;
  readonly detail: string;
}

export interface RuleRequirements {
  /** The release of Kubernetes, 1.x, whose libraries new rules may use. */
  readonly release: number;
  /** Whether the definition had this expression before: such ones may use all libraries. */
  readonly isStored: (expression: string) => boolean;
  /** Whether the stored definition has the same schema: then each rule may cost more than a new one. */
  readonly isUnchanged?: boolean;
}

/** Finds what is wrong with the form of rules: missing texts, line breaks, unknown reasons and paths. */
export function ruleFormProblems(schema: JsonSchema, path: string): DefinitionProblem[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) =>
    formProblems(rule, `${path}.x-kubernetes-validations[${index}]`, schema),
  );
  return [...childrenOf(schema, path).flatMap(({ child, field }) => ruleFormProblems(child, field)), ...own];
}

/**
 * Compiles the rules of a schema and estimates their costs. Call it only for schemas without other problems.
 *
 * @param path the field of the schema
 */
export function ruleProblems(
  schema: JsonSchema,
  path: string,
  requirements: RuleRequirements,
): DefinitionProblem[] {
  const walk = new RuleWalk(requirements);
  walk.visit({
    schema,
    field: path,
    isRoot: true,
    cardinality: 1,
    data: undefined,
    oldSelfForbiddenBy: undefined,
  });
  return [...walk.problems, ...walk.totalProblems(path)];
}

interface Visited {
  readonly schema: JsonSchema;
  readonly field: string;
  readonly isRoot: boolean;
  /** How often such a value may be in one object; undefined for any number. */
  readonly cardinality: number | undefined;
  /** Its type, when a schema around it is declared already. */
  readonly data: DataType | undefined;
  /** The field of a schema whose parts have no counterparts in a previous object. */
  readonly oldSelfForbiddenBy: string | undefined;
}

class RuleWalk {
  readonly problems: DefinitionProblem[] = [];
  readonly #requirements: RuleRequirements;
  readonly #fresh: Environment;
  readonly #stored: Environment;
  readonly #structs: Structs = new Map();
  #total = 0;
  #expensive: { field: string; cost: number }[] = [];

  constructor(requirements: RuleRequirements) {
    this.#requirements = requirements;
    this.#fresh = new Environment({ release: requirements.release });
    this.#stored = new Environment({ release: ALL_RELEASES });
  }

  visit(visited: Visited): void {
    const { schema, field } = visited;
    const rules = schema['x-kubernetes-validations'] ?? [];
    const data = visited.data ?? (rules.length > 0 ? this.#declare(visited) : undefined);
    for (const { child, field: at, name } of childrenOf(schema, field)) {
      this.visit({
        schema: child,
        field: at,
        isRoot: false,
        cardinality: multiplied(visited.cardinality, elementsOf(schema)),
        data: name === undefined ? data?.element : data?.properties.get(name),
        oldSelfForbiddenBy: visited.oldSelfForbiddenBy ?? (correlates(schema, name) ? undefined : field),
      });
    }
    if (rules.length === 0) return;
    if (data === undefined) {
      const why = 'unable to convert structural schema to CEL declarations';
      const detail = `internal error: failed to construct type information for x-kubernetes-validations rules: ${why}`;
      this.problems.push({ reason: 'InternalError', field: `${field}.x-kubernetes-validations`, detail });
      return;
    }
    for (const [index, rule] of rules.entries())
      this.#rule(rule, `${field}.x-kubernetes-validations[${index}]`, visited, data);
  }

  #declare({ schema, isRoot }: Visited): DataType | undefined {
    const name = `${ROOT_TYPE}${this.#structs.size}`;
    return declareData(schema, { structs: this.#structs, name, isResource: isRoot || isEmbedded(schema) });
  }

  #rule(
    rule: ValidationRule,
    field: string,
    { schema, cardinality, oldSelfForbiddenBy }: Visited,
    data: DataType,
  ): void {
    const isStored = this.#requirements.isStored(rule.rule);
    const environment = isStored ? this.#stored : this.#fresh;
    const single = { ...schema, 'x-kubernetes-validations': [rule] };
    const [compiled] = rulesOf(single, data, { environment, structs: this.#structs }).all();
    if (compiled === undefined) return;
    this.#costs(compiled, field, cardinality ?? Math.floor(REQUEST_BYTES_MAX / (data.bytesMin + 1)));
    if (compiled.error !== undefined) {
      this.problems.push({
        reason: 'FieldValueInvalid',
        field: `${field}.rule`,
        value: rule,
        detail: compiled.error,
      });
    }
    if (compiled.messageError !== undefined) {
      this.problems.push({
        reason: 'FieldValueInvalid',
        field: `${field}.messageExpression`,
        value: rule,
        detail: compiled.messageError,
      });
    }
    if (compiled.usesOldSelf && oldSelfForbiddenBy !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${oldSelfForbiddenBy}`;
      this.problems.push({ reason: 'FieldValueInvalid', field: `${field}.rule`, value: rule.rule, detail });
    }
    if (!compiled.usesOldSelf && compiled.error === undefined && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.problems.push({
        reason: 'FieldValueInvalid',
        field: `${field}.optionalOldSelf`,
        value: rule.optionalOldSelf,
        detail,
      });
    }
  }

  #costs(compiled: CompiledRule, field: string, cardinality: number): void {
    const cost = multiplied(compiled.costMax, cardinality) ?? COUNT_MAX;
    this.#observe(`${field}.rule`, 'estimated rule cost', cost);
    if (compiled.message !== undefined) {
      this.#observe(
        `${field}.messageExpression`,
        'estimated messageExpression cost',
        compiled.messageCostMax,
      );
    }
  }

  #observe(field: string, name: string, cost: number): void {
    if (cost > RULE_COST_MAX && this.#requirements.isUnchanged !== true) {
      this.problems.push({
        reason: 'FieldValueForbidden',
        field,
        detail: exceeded(name, cost, RULE_COST_MAX),
      });
    }
    this.#total = Math.min(this.#total + cost, COUNT_MAX);
    if (cost < SCHEMA_COST_MAX / 100) return;
    this.#expensive.push({ field, cost });
    this.#expensive.sort((a, b) => b.cost - a.cost);
    this.#expensive = this.#expensive.slice(0, NAMED_MAX);
  }

  /** What is wrong with the costs of all rules together. */
  totalProblems(path: string): DefinitionProblem[] {
    if (this.#total <= SCHEMA_COST_MAX) return [];
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    const detail =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [
      ...this.#expensive.map(({ field }) => ({ reason: 'FieldValueForbidden', field, detail }) as const),
      { reason: 'FieldValueForbidden', field: path, detail: exceeded(name, this.#total, SCHEMA_COST_MAX) },
    ];
  }
}

/** The schemas within a schema whose rules are evaluated; `name` is undefined for items and values of maps. */
function childrenOf(schema: JsonSchema, path: string): { child: JsonSchema; field: string; name?: string }[] {
  const { additionalProperties, properties = {}, items } = schema;
  return [
    ...(isSchema(additionalProperties)
      ? [{ child: additionalProperties, field: `${path}.additionalProperties` }]
      : []),
    ...Object.entries(properties).map(([name, child]) => ({
      child,
      field: `${path}.properties[${name}]`,
      name,
    })),
    ...(isSchema(items) ? [{ child: items, field: `${path}.items` }] : []),
  ];
}

/** Whether parts of such values can be compared with those of a previous object. */
function correlates(schema: JsonSchema, name: string | undefined): boolean {
  if (name === undefined) return !isSchema(schema.items) || schema['x-kubernetes-list-type'] === 'map';
  return ['', 'granular', 'atomic'].includes(schema['x-kubernetes-map-type'] ?? '');
}

/** By how much a schema multiplies the values of its parts; undefined for any number. */
function elementsOf({ type, additionalProperties, maxProperties, maxItems }: JsonSchema): number | undefined {
  if (type === 'array') return maxItems === undefined ? undefined : notNegative(maxItems);
  if (type !== 'object' || additionalProperties === undefined) return 1;
  return maxProperties === undefined ? undefined : notNegative(maxProperties);
}

function multiplied(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  return a === 0 || b === 0 ? 0 : Math.min(a * b, COUNT_MAX);
}

function exceeded(name: string, cost: number, costMax: number): string {
  const factor = cost / costMax;
  const text = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${name} exceeds budget by factor of ${text} (${advice})`;
}

const LINE_BREAK = /[\n\r]/u;

function formProblems(rule: ValidationRule, field: string, schema: JsonSchema): DefinitionProblem[] {
  const { messageExpression = '', reason, fieldPath = '' } = rule;
  const problems: DefinitionProblem[] = [];
  const add = (name: string, problem: Omit<DefinitionProblem, 'field'>): void => {
    problems.push({ ...problem, field: `${field}.${name}` });
  };
  const text = messageProblem(rule);
  if (text !== undefined) add(text.name, text.problem);
  if (messageExpression !== '' && messageExpression.trim() === '') {
    add('messageExpression', {
      reason: 'FieldValueRequired',
      detail: 'messageExpression must be non-empty if specified',
    });
  }
  if (reason !== undefined && !RULE_REASONS.includes(reason)) {
    add('reason', { reason: 'FieldValueNotSupported', value: reason, detail: '' });
  }
  const path = (detail: string): void =>
    add('fieldPath', { reason: 'FieldValueInvalid', value: fieldPath, detail });
  if (fieldPath !== '' && fieldPath.trim() === '') path('must be non-empty if specified');
  if (LINE_BREAK.test(fieldPath)) path('must not contain line breaks');
  if (fieldPath !== '' && readFieldPath(fieldPath, schema) === undefined) path('must be a valid path');
  return problems;
}

function messageProblem({
  rule,
  message = '',
}: ValidationRule): { name: string; problem: Omit<DefinitionProblem, 'field'> } | undefined {
  const trimmed = message.trim();
  const invalid = (detail: string): { name: string; problem: Omit<DefinitionProblem, 'field'> } => ({
    name: 'message',
    problem: { reason: 'FieldValueInvalid', value: message, detail },
  });
  if (rule.trim() === '')
    return { name: 'rule', problem: { reason: 'FieldValueRequired', detail: 'rule is not specified' } };
  if (message !== '' && trimmed === '') return invalid('must be non-empty if specified');
  if (LINE_BREAK.test(trimmed)) return invalid('must not contain line breaks');
  if (!LINE_BREAK.test(rule.trim()) || trimmed !== '') return undefined;
  const detail = 'message must be specified if rule contains line breaks';
  return { name: 'message', problem: { reason: 'FieldValueRequired', detail } };
}
