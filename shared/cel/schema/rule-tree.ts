import { compileRules } from './compiled-rules';
import type { CompiledRule, RuleContext } from './compiled-rules';
import { declareData, isEmbedded, isSchema } from './data-types';
import type { DataType, JsonSchema } from './data-types';
import { ALL_RELEASES, Environment } from '../environment';

/** The rules of a schema and of its parts; parts without rules are left out. */
export interface RuleNode {
  /** The type of the schema, which decides how errors show values. */
  readonly schemaType: string;
  readonly data: DataType | undefined;
  readonly rules: readonly CompiledRule[];
  /** Whether an item or property can be compared with the same one of the previous object. */
  readonly mapType: string;
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** The rules of the items of a list, or of the values of a map. */
  readonly element: RuleNode | undefined;
  readonly allOf: readonly RuleNode[];
}

/** The name of the type of the root in messages. */
const ROOT_TYPE = 'selfType1';

/**
 * Compiles all rules of a stored schema, with the libraries of all releases, as upstream's `NewValidator` does.
 *
 * @returns undefined when the schema has no rules
 */
export function compileRuleTree(schema: JsonSchema): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const context: RuleContext = {
    environment: new Environment({ release: ALL_RELEASES }),
    structs: new Map(),
  };
  const data = declareData(schema, { structs: context.structs, name: ROOT_TYPE, isResource: true });
  return ruleNode({ rules: schema, spine: schema }, data, context);
}

/** Whether a schema has rules anywhere. */
export function hasRules(schema: JsonSchema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  const { properties = {}, items, additionalProperties, allOf = [] } = schema;
  const parts = [...Object.values(properties), ...allOf, items, additionalProperties];
  return parts.some((part) => isSchema(part) && hasRules(part));
}

/** A schema with rules, and the one that says what its values are: another one within `allOf`. */
interface Pair {
  readonly rules: JsonSchema;
  readonly spine: JsonSchema;
}

function ruleNode(pair: Pair, data: DataType | undefined, context: RuleContext): RuleNode | undefined {
  const { rules: source, spine } = pair;
  const rules =
    data === undefined
      ? []
      : compileRules(
          { ...spine, 'x-kubernetes-validations': source['x-kubernetes-validations'] ?? [] },
          data,
          context,
        );
  const properties = propertyNodes(pair, data, context);
  const element = elementNode(pair, data, context);
  const allOf = (source.allOf ?? []).flatMap((each) => ruleNode({ rules: each, spine }, data, context) ?? []);
  if (rules.length === 0 && properties.size === 0 && element === undefined && allOf.length === 0)
    return undefined;
  return {
    schemaType: spine.type ?? '',
    data,
    rules,
    mapType: spine['x-kubernetes-map-type'] ?? '',
    listType: spine['x-kubernetes-list-type'] ?? '',
    listMapKeys: spine['x-kubernetes-list-map-keys'] ?? [],
    properties,
    element,
    allOf,
  };
}

function propertyNodes(
  { rules, spine }: Pair,
  data: DataType | undefined,
  context: RuleContext,
): Map<string, RuleNode> {
  const nodes = new Map<string, RuleNode>();
  for (const [name, each] of Object.entries(rules.properties ?? {})) {
    const counterpart = spine.properties?.[name];
    const type = data?.properties.get(name);
    if (counterpart === undefined || type === undefined) continue;
    const node = ruleNode({ rules: each, spine: counterpart }, type, context);
    if (node !== undefined) nodes.set(name, node);
  }
  return nodes;
}

function elementNode(
  { rules, spine }: Pair,
  data: DataType | undefined,
  context: RuleContext,
): RuleNode | undefined {
  for (const field of ['items', 'additionalProperties'] as const) {
    const { [field]: each } = rules;
    const { [field]: counterpart } = spine;
    if (isSchema(each) && isSchema(counterpart)) {
      return ruleNode({ rules: each, spine: counterpart }, data?.element, context);
    }
  }
  return undefined;
}

/** Declares the data of a schema within another one, as if it were a root of its own. */
export function declareRoot(schema: JsonSchema, context: RuleContext, isRoot: boolean): DataType | undefined {
  return declareData(schema, {
    structs: context.structs,
    name: ROOT_TYPE,
    isResource: isRoot || isEmbedded(schema),
  });
}
