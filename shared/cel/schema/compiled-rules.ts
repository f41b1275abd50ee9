import type { Checked } from '../check/checker';
import { hasType } from '../check/checker';
import { BOOL, STRING, optionalOf } from '../check/types';
import { estimateCost } from '../cost/estimate';
import type { Environment, Program } from '../environment';
import { PlanError } from '../eval/plan';
import { walk } from '../parser/ast';
import { Issues } from '../parser/source';
import { sizeAt } from './data-types';
import type { DataType, JsonSchema, Structs, ValidationRule } from './data-types';
import { readFieldPath } from './field-path';

/** One rule of a schema, ready to be evaluated, or why it cannot be. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined for an empty rule and for one with an error. */
  readonly program: Program | undefined;
  readonly error: string | undefined;
  readonly usesOldSelf: boolean;
  /** The most that one evaluation may cost, in upstream's units. */
  readonly costMax: number;
  readonly message: Program | undefined;
  readonly messageError: string | undefined;
  readonly messageCostMax: number;
  /** Where errors are reported, relative to the value; empty for the value itself. */
  readonly fieldPath: string;
}

export interface RuleContext {
  readonly environment: Environment;
  readonly structs: Structs;
}

/** The rules of one schema. Each is compiled when it is first needed, or before that, one at a time. */
export class SchemaRules {
  readonly #pending: ValidationRule[];
  readonly #compile: (rule: ValidationRule) => CompiledRule;
  readonly #compiled: CompiledRule[] = [];
  readonly count: number;

  constructor(rules: readonly ValidationRule[], compile: (rule: ValidationRule) => CompiledRule) {
    this.#pending = Array.from(rules);
    this.#compile = compile;
    this.count = rules.length;
  }

  get isCompiled(): boolean {
    return this.#pending.length === 0;
  }

  /** Yields the rules themselves until the caller has compiled them all. */
  *untilCompiled(): IterableIterator<this> {
    while (!this.isCompiled) yield this;
  }

  /** The characters that `compileNext` compiles. */
  get nextLength(): number {
    const [next] = this.#pending;
    return next === undefined ? 0 : next.rule.length + (next.messageExpression ?? '').length;
  }

  /** Compiles one more rule. */
  compileNext(): void {
    const [next] = this.#pending;
    if (next === undefined) return;
    // A rule whose compilation throws stays pending: it must never be skipped.
    this.#compiled.push(this.#compile(next));
    this.#pending.shift();
  }

  all(): readonly CompiledRule[] {
    while (!this.isCompiled) this.compileNext();
    return this.#compiled;
  }
}

/** Returns the rules of one schema, whose values have the type `type` (k8s.io/apiextensions-apiserver `schema/cel/compilation.go`). */
export function rulesOf(
  schema: JsonSchema,
  type: DataType,
  { environment, structs }: RuleContext,
): SchemaRules {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const withOld = (isOptional: boolean): Environment =>
    environment.with({
      structs,
      variables: [
        { name: 'self', type: type.celType },
        { name: 'oldSelf', type: isOptional ? optionalOf(type.celType) : type.celType },
      ],
    });
  return new SchemaRules(rules, (rule) =>
    compileRule(rule, withOld(rule.optionalOldSelf === true), { schema, type }),
  );
}

const NOTHING = {
  program: undefined,
  error: undefined,
  usesOldSelf: false,
  costMax: 0,
  message: undefined,
  messageError: undefined,
  messageCostMax: 0,
  fieldPath: '',
};

function compileRule(
  rule: ValidationRule,
  environment: Environment,
  { schema, type }: { schema: JsonSchema; type: DataType },
): CompiledRule {
  if (rule.rule.trim() === '') return { rule, ...NOTHING };
  const checked = environment.compile(rule.rule);
  if (checked instanceof Issues)
    return { rule, ...NOTHING, error: `compilation failed: ${checked.toString()}` };
  if (!hasType(checked, BOOL)) return { rule, ...NOTHING, error: 'cel expression must evaluate to a bool' };
  const usesOldSelf = refersTo(checked, 'oldSelf');
  const program = planOrError(environment, checked);
  if (typeof program === 'string') {
    return { rule, ...NOTHING, usesOldSelf, error: `program instantiation failed: ${program}` };
  }
  const costMax = estimateCost(checked, (path) => sizeAt(type, path)).max;
  return {
    rule,
    ...NOTHING,
    program,
    usesOldSelf,
    costMax,
    ...compileMessage(rule.messageExpression ?? '', environment, type),
    fieldPath: readFieldPath(rule.fieldPath ?? '', schema)?.path ?? '',
  };
}

function compileMessage(
  source: string,
  environment: Environment,
  type: DataType,
): Partial<Pick<CompiledRule, 'message' | 'messageError' | 'messageCostMax'>> {
  if (source === '') return {};
  const checked = environment.compile(source);
  if (checked instanceof Issues)
    return { messageError: `messageExpression compilation failed: ${checked.toString()}` };
  if (!hasType(checked, STRING)) return { messageError: 'messageExpression must evaluate to a string' };
  const program = planOrError(environment, checked);
  if (typeof program === 'string')
    return { messageError: `messageExpression instantiation failed: ${program}` };
  return { message: program, messageCostMax: estimateCost(checked, (path) => sizeAt(type, path)).max };
}

function planOrError(environment: Environment, checked: Checked): Program | string {
  try {
    return environment.plan(checked);
  } catch (error) {
    if (error instanceof PlanError) return error.message;
    throw error;
  }
}

function refersTo(checked: Checked, name: string): boolean {
  let isFound = false;
  walk(checked.expr, (part) => {
    isFound ||= part.kind === 'ident' && checked.references.get(part.id)?.variable?.name === name;
  });
  return isFound;
}
