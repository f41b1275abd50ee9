import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { goError } from '../../../../shared/structural/outcome';
import { compilePattern } from '../../../../shared/structural/patterns';
import { missingStructure } from './crd-completeness';
import { isSchema, itemsOf } from './crd-schema-parts';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const EMBEDDED = 'x-kubernetes-embedded-resource';

/** All different patterns of a definition together; see `PATTERN_INSTRUCTIONS_MAX` for one. */
export const INSTRUCTIONS_MAX = 30_000;

/** What the patterns of one definition have taken so far. */
export interface PatternBudget {
  /** Those so far: large schemas say the same few of them hundreds of times. */
  readonly patterns: Set<string>;
  /** That the patterns took to compile; see `effort` of a compiled one. */
  instructions: number;
}

export function newPatternBudget(): PatternBudget {
  return { patterns: new Set(), instructions: 0 };
}

/** That the schema is structural, in upstream's order: that of the messages. `budget` is that of all versions of the definition. */
export function validateStructure(
  schema: JSONSchemaProps,
  path: string,
  budget: PatternBudget = newPatternBudget(),
): FieldError[] {
  const walk: Walk = { errors: [], budget };
  validateNode(schema, path, 'root', walk);
  const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`;
  return [...walk.errors, ...missingStructure(schema, path)].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

interface Walk {
  readonly errors: FieldError[];
  readonly budget: PatternBudget;
}

type Level = 'root' | 'item' | 'field';

function validateNode(schema: JSONSchemaProps, path: string, level: Level, walk: Walk): void {
  const items = itemsOf(schema);
  const { additionalProperties: more } = schema;
  if (schema.type === 'array' && items === undefined) {
    walk.errors.push(required(`${path}.items`, 'must be specified'));
  }
  if (items !== undefined) validateNode(items, `${path}.items`, 'item', walk);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    validateNode(child, `${path}.properties[${name}]`, 'field', walk);
  }
  if (isSchema(more)) validateNode(more, `${path}.additionalProperties`, 'field', walk);
  walk.errors.push(
    ...additionalProblems(schema, path, level),
    ...markerProblems(schema, path),
    ...typeProblems(schema, path, level),
    ...metaProblems(schema, path, level),
  );
  validateValues(schema, path, walk, {
    skipsAnyOf: isIntOrString(schema.anyOf),
    skipsFirstAllOf: isIntOrString(schema.allOf?.[0]?.anyOf),
  });
}

function additionalProblems(schema: JSONSchemaProps, path: string, level: Level): FieldError[] {
  if (schema.additionalProperties === undefined) return [];
  const at = `${path}.additionalProperties`;
  return [
    ...(level === 'root' ? [forbiddenField(at, 'must not be used at the root')] : []),
    ...(schema[EMBEDDED] === true ? [forbiddenField(at, `must not be used if ${EMBEDDED} is set`)] : []),
  ];
}

function markerProblems(schema: JSONSchemaProps, path: string): FieldError[] {
  if (schema[INT_OR_STRING] !== true) return [];
  return ([PRESERVE, EMBEDDED] as const)
    .filter((marker) => schema[marker] === true)
    .map((marker) => invalid(`${path}.${marker}`, true, `must be false if ${INT_OR_STRING} is true`));
}

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeProblems(schema: JSONSchemaProps, path: string, level: Level): FieldError[] {
  const { type = '', properties = {} } = schema;
  const at = `${path}.type`;
  const isFree = schema[INT_OR_STRING] === true || schema[PRESERVE] === true;
  const isEmbedded = schema[EMBEDDED] === true;
  const why = `must be object if ${EMBEDDED} is true`;
  return [
    ...(isEmbedded && type === '' ? [required(at, why)] : []),
    ...(isEmbedded && type !== '' && type !== 'object' ? [goError('FieldValueInvalid', at, type, why)] : []),
    ...(!isEmbedded && type === '' && !isFree ? [required(at, NO_TYPE[level])] : []),
    ...(level === 'root' && type !== '' && type !== 'object'
      ? [goError('FieldValueInvalid', at, type, 'must be object at the root')]
      : []),
    ...(isEmbedded && schema[PRESERVE] !== true && Object.keys(properties).length === 0
      ? [required(`${path}.properties`, `must not be empty if ${EMBEDDED} is true without ${PRESERVE}`)]
      : []),
  ];
}

/** What every object has is known already; of the metadata of the whole only the names may be restricted. */
function metaProblems(schema: JSONSchemaProps, path: string, level: Level): FieldError[] {
  const { properties = {} } = schema;
  const { metadata } = properties;
  const isResource = level === 'root' || schema[EMBEDDED] === true;
  const wrongType = (name: string, type: string): FieldError[] => {
    const property = properties[name];
    if (!isResource || property === undefined || property.type === type) return [];
    const at = `${path}.properties[${name}].type`;
    return [goError('FieldValueInvalid', at, property.type ?? '', `must be ${type}`)];
  };
  return [
    ...wrongType('kind', 'string'),
    ...wrongType('apiVersion', 'string'),
    ...wrongType('metadata', 'object'),
    ...(level === 'root' && metadata !== undefined && saysMoreThanNames(metadata)
      ? [
          forbiddenField(
            `${path}.properties[metadata]`,
            'must not specify anything other than name and generateName, but metadata is implicitly specified',
          ),
        ]
      : []),
  ];
}

/** What upstream does not see in the metadata of the whole object: documentation, and what other rules validate. */
const UNSEEN = new Set(['type', 'default', 'externalDocs', 'example']);

function saysMoreThanNames(metadata: JSONSchemaProps): boolean {
  const names = Object.keys(metadata.properties ?? {});
  return (
    names.some((name) => name !== 'name' && name !== 'generateName') ||
    Object.entries(metadata).some(
      ([field, value]) => !UNSEEN.has(field) && field !== 'properties' && isSet(value),
    )
  );
}

/** What upstream does not see inside of alternatives. */
const UNSEEN_NESTED: ReadonlySet<string> = new Set(['externalDocs', 'example']);

/** Exactly an integer or a text, which may be said by types. */
function isIntOrString(choices: readonly JSONSchemaProps[] = []): boolean {
  return (
    choices.length === 2 &&
    ['integer', 'string'].every((type, index) => {
      const choice = choices[index] ?? {};
      const others = Object.entries(choice).filter(
        ([name, value]) => name !== 'type' && (isSet(value) || name === 'additionalProperties'),
      );
      return choice.type === type && others.every(([name]) => UNSEEN_NESTED.has(name));
    })
  );
}

interface Skips {
  readonly skipsAnyOf: boolean;
  /** The `anyOf` in the first of `allOf`. */
  readonly skipsFirstAllOf: boolean;
}

const NO_SKIPS: Skips = { skipsAnyOf: false, skipsFirstAllOf: false };

/** Inside allOf, anyOf, oneOf and not there are only values to compare with, no structure. */
function validateValues(schema: JSONSchemaProps, path: string, walk: Walk, skips: Skips): void {
  for (const field of ['anyOf', 'allOf', 'oneOf'] as const) {
    if (field === 'anyOf' && skips.skipsAnyOf) continue;
    for (const [index, each] of (schema[field] ?? []).entries()) {
      const skipsAnyOf = field === 'allOf' && index === 0 && skips.skipsFirstAllOf;
      validateNested(each, `${path}.${field}[${String(index)}]`, walk, { ...NO_SKIPS, skipsAnyOf });
    }
  }
  const { not, pattern = '' } = schema;
  if (not !== undefined) validateNested(not, `${path}.not`, walk, NO_SKIPS);
  validatePattern(pattern, `${path}.pattern`, walk);
}

function validatePattern(pattern: string, path: string, walk: Walk): void {
  if (pattern === '') return;
  const say = (problem: string): void => {
    const why = `must be a valid regular expression, but isn't: ${problem}`;
    walk.errors.push(goError('FieldValueInvalid', path, pattern, why));
  };
  const { budget } = walk;
  if (budget.instructions > INSTRUCTIONS_MAX && !budget.patterns.has(pattern)) {
    say('the patterns of this definition are too large together');
    return;
  }
  const compiled = compilePattern(pattern);
  if ('problem' in compiled) say(compiled.problem);
  if (!budget.patterns.has(pattern)) {
    budget.patterns.add(pattern);
    budget.instructions += compiled.effort;
  }
}

/** What says something of structure, with what it must be instead. */
const STRUCTURE: readonly (readonly [field: keyof JSONSchemaProps, mustBe: string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  [PRESERVE, 'false'],
  [EMBEDDED, 'false'],
  [INT_OR_STRING, 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

function validateNested(schema: JSONSchemaProps, path: string, walk: Walk, skips: Skips): void {
  validateValues(schema, path, walk, skips);
  const items = itemsOf(schema);
  if (items !== undefined) validateNested(items, `${path}.items`, walk, NO_SKIPS);
  const { properties = {} } = schema;
  for (const [name, child] of Object.entries(properties)) {
    validateNested(child, `${path}.properties[${name}]`, walk, NO_SKIPS);
  }
  for (const [field, mustBe] of STRUCTURE) {
    const value = schema[field];
    const isThere = mustBe === 'undefined' ? value !== undefined && value !== null : isSet(value);
    if (isThere) walk.errors.push(forbiddenField(`${path}.${field}`, `must be ${mustBe} to be structural`));
  }
  if (Object.hasOwn(properties, 'metadata')) {
    walk.errors.push(
      forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'),
    );
  }
}

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== '' && value !== false;
}
