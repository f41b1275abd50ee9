import { apiLevel } from '../../../../shared/api-level';
import { isInForce } from '../../../../shared/api/changes';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../../../shared/api/types/apiextensions-v1';
import { ruleFormProblems, ruleProblems, RULE_REASONS } from '../../../../shared/cel/schema/validate-rules';
import type { DefinitionProblem, RuleRequirements } from '../../../../shared/cel/schema/validate-rules';
import type { ValidationRule } from '../../../../shared/cel/schema/data-types';
import { deepEqual, isJsonObject } from '../../../../shared/object/clone';
import { GoValue, escapeAsGoJson } from '../../../../shared/errors/go-values';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  forbiddenField,
  internalError,
  invalid,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { keepSourceWithin } from '../rules/expression-bounds';
import { isSchema, itemsOf } from './crd-schema-parts';

/** Whether custom resources are validated by rules in CEL (the gate CustomResourceValidationExpressions, on by default since 1.25). */
export const SERVES_VALIDATION_RULES = isInForce('validationRules');

/** What the rules of a definition must fulfil. */
export interface RuleDemands extends RuleRequirements {
  readonly bounds: LoopBounds | undefined;
  /** The expressions of the versions so far: many versions can have many of them together. */
  readonly expressions: Set<string>;
  /** Whether the stored definition has the same schema for this version. */
  readonly hadSchema: (version: CustomResourceDefinitionVersion) => boolean;
}

/**
 * Returns the requirements for rules, or undefined where the level has none. New expressions may use the libraries of the release before,
 * so that a server of that release can still read them; expressions of the stored definition may use all.
 */
export function ruleDemands(
  previous: CustomResourceDefinition | undefined,
  bounds: LoopBounds | undefined,
): RuleDemands | undefined {
  if (!SERVES_VALIDATION_RULES) return undefined;
  const versions = previous?.spec.versions ?? [];
  const stored = new Set<string>();
  for (const { schema } of versions) {
    if (schema?.openAPIV3Schema !== undefined) collectExpressions(schema.openAPIV3Schema, stored);
  }
  return {
    release: apiLevel - 1,
    isStored: (expression) => stored.has(expression),
    bounds,
    expressions: new Set(),
    hadSchema: ({ name, schema }) =>
      versions.some((version) => version.name === name && deepEqual(version.schema, schema)),
  };
}

/** Validates the form of the rules of a schema, and their expressions and costs if the schema has no other errors. */
export function validateRules(
  schema: JSONSchemaProps,
  path: string,
  {
    demands,
    hasErrors,
    isUnchanged,
  }: { readonly demands: RuleDemands; readonly hasErrors: boolean; readonly isUnchanged: boolean },
): FieldError[] {
  const form = ruleFormProblems(schema, path).map(toFieldError);
  if (hasErrors || form.length > 0) return form;
  const { expressions, bounds } = demands;
  collectExpressions(schema, expressions);
  keepSourceWithin(
    bounds,
    Array.from(expressions).reduce((sum, each) => sum + each.length, 0),
  );
  return ruleProblems(schema, path, { ...demands, isUnchanged }).map(toFieldError);
}

function collectExpressions(schema: JSONSchemaProps, into: Set<string>): void {
  for (const { rule, messageExpression = '' } of schema['x-kubernetes-validations'] ?? []) {
    into.add(rule);
    into.add(messageExpression);
  }
  const { properties = {}, additionalProperties: more } = schema;
  for (const part of [...Object.values(properties), itemsOf(schema), more]) {
    if (isSchema(part)) collectExpressions(part, into);
  }
}

function toFieldError({ reason, field, value, detail }: DefinitionProblem): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueNotSupported':
      return notSupported(field, value, RULE_REASONS);
    case 'InternalError':
      return internalError(field, detail);
    case 'FieldValueInvalid':
    default:
      return invalid(field, isJsonObject(value) ? internalForm(value) : value, detail);
  }
}

/** Shows a rule in upstream's internal form: all fields, and the characters of HTML escaped. */
function internalForm(rule: Partial<ValidationRule>): GoValue {
  const fields = {
    Rule: rule.rule ?? '',
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
  return new GoValue(() => escapeAsGoJson(JSON.stringify(fields)));
}
