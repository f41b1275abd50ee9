import { rulesOf } from './compiled-rules';
import type { RuleContext, SchemaRules } from './compiled-rules';
import { declareData, isSchema } from './data-types';
import type { DataType, JsonSchema } from './data-types';
import { ALL_RELEASES, Environment } from '../environment';

/** The rules of a schema and of its parts; parts without rules are left out. */
export interface RuleNode {
  /** The type of the schema, which decides how errors show values. */
  readonly schemaType: string;
  readonly data: DataType | undefined;
  readonly rules: SchemaRules | undefined;
  /** How items find their counterparts in the previous object. */
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** The rules of the items of a list, or of the values of a map. */
  readonly element: RuleNode | undefined;
}

/** The name of the type of the root in messages. */
export const ROOT_TYPE = 'selfType1';

/**
 * Returns the rules of a stored schema, with the libraries of all releases, as upstream's `NewValidator` does. They are compiled on first
 * use.
 *
 * @returns undefined when the schema has no rules
 */
export function ruleTreeOf(schema: JsonSchema): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const context: RuleContext = {
    environment: new Environment({ release: ALL_RELEASES }),
    structs: new Map(),
  };
  const data = declareData(schema, { structs: context.structs, name: ROOT_TYPE, isResource: true });
  return ruleNode(schema, data, context);
}

/** Yields the rules of a schema as long as some of them are not compiled, then those of its parts. */
export function* pendingRules({ rules, properties, element }: RuleNode): IterableIterator<SchemaRules> {
  if (rules !== undefined) yield* rules.untilCompiled();
  for (const child of properties.values()) yield* pendingRules(child);
  if (element !== undefined) yield* pendingRules(element);
}

/** Whether a schema has rules anywhere. */
export function hasRules(schema: JsonSchema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  const { properties = {}, items, additionalProperties } = schema;
  const parts = [...Object.values(properties), items, additionalProperties];
  return parts.some((part) => isSchema(part) && hasRules(part));
}

function ruleNode(
  schema: JsonSchema,
  data: DataType | undefined,
  context: RuleContext,
): RuleNode | undefined {
  const rules = data === undefined ? undefined : rulesOf(schema, data, context);
  const properties = new Map<string, RuleNode>();
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const type = data?.properties.get(name);
    const node = type === undefined ? undefined : ruleNode(each, type, context);
    if (node !== undefined) properties.set(name, node);
  }
  const element = elementNode(schema, data, context);
  if ((rules?.count ?? 0) === 0 && properties.size === 0 && element === undefined) return undefined;
  return {
    schemaType: schema.type ?? '',
    data,
    rules,
    listType: schema['x-kubernetes-list-type'] ?? '',
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    properties,
    element,
  };
}

function elementNode(
  schema: JsonSchema,
  data: DataType | undefined,
  context: RuleContext,
): RuleNode | undefined {
  const { items, additionalProperties } = schema;
  const each = isSchema(items) ? items : additionalProperties;
  return isSchema(each) ? ruleNode(each, data?.element, context) : undefined;
}
