import type { CompiledExpression } from '../../../../shared/cel/admission/expressions';
import type { Evaluation, Program } from '../../../../shared/cel/environment';
import { CostLimitExceeded } from '../../../../shared/cel/eval/frame';
import { jsonValue } from '../../../../shared/cel/eval/json-values';
import { EvalError, MapValue } from '../../../../shared/cel/eval/values';
import type { MapKey, Result, Value } from '../../../../shared/cel/eval/values';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Steps } from '../../../../shared/concurrency/steps';
import { waitFor } from '../../../../shared/concurrency/steps';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import type { Endpoint } from '../../../engine/registry/resource';
import { keepCostWithin } from '../../kinds/rules/expression-bounds';
import { requestOf } from '../webhooks/reviewed-request';
import type { ReviewedObject } from '../webhooks/reviewed-object';
import type { AccessChecks } from './access-checks';
import { AnswerNeeded } from './access-checks';

/** The most that one expression may cost (k8s.io/apiserver `apis/cel/config.go`, `PerCallLimit`). */
const CALL_COST_MAX = 1_000_000;
/** The most that the expressions of a policy may cost for one binding and one parameter (`RuntimeCELCostBudget`). */
export const POLICY_COST_MAX = 10_000_000;
/** The most that the conditions of a webhook or a policy may cost (`RuntimeCELCostBudgetMatchConditions`). */
export const CONDITIONS_COST_MAX = 2_500_000;

/** How often one evaluation is repeated: its budget allows 28 answers of the authorizer, and two objects may need a conversion. */
const REPEATS_MAX = 64;

/** What expressions of one write see. */
export interface ExpressionInput {
  readonly attributes: AdmissionAttributes;
  readonly shared: EvaluatedWrite;
  /** The version that the policy or the webhook matched. */
  readonly endpoint: Endpoint;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly params?: ApiObject | undefined;
  readonly namespaceObject?: ApiObject | undefined;
  /** Absent for expressions that may not use the authorizer. */
  readonly access?: AccessChecks | undefined;
  /** The variables of a policy, by name. */
  readonly variables?: ReadonlyMap<string, CompiledExpression> | undefined;
}

/**
 * What the evaluations of one write may hold the loop for, in milliseconds, before they look whether its turn is used up. Twenty policies
 * take less, and a pause costs as much as several of them.
 */
const HELD_MS_MAX = 0.5;

/** What all evaluations of one write share: the variable `request`, converted once for each version, and their turns of the event loop. */
export class EvaluatedWrite {
  readonly #attributes: AdmissionAttributes;
  readonly #requests = new Map<Endpoint, Value>();
  readonly #slices = new Slices();
  #heldMs = 0;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
  }

  request(endpoint: Endpoint): Value {
    const known = this.#requests.get(endpoint);
    if (known !== undefined) return known;
    const value = jsonValue(requestOf(this.#attributes, endpoint));
    this.#requests.set(endpoint, value);
    return value;
  }

  /** Returns whether to pause after an evaluation that took so long. */
  isDue(ms: number): boolean {
    this.#heldMs += ms;
    return this.#heldMs >= HELD_MS_MAX && this.#slices.due();
  }

  async pause(): Promise<void> {
    this.#heldMs = 0;
    await this.#slices.pause();
  }
}

/** What an expression returned, or why it could not be evaluated, and how long it took. */
export interface Outcome {
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly ms: number;
}

/** The expressions of one set cost more than they may; no further one is evaluated. */
export class OutOfBudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/**
 * Evaluates a set of expressions that share a budget and the values of variables (k8s.io/apiserver `admission/plugin/cel`,
 * `activation.go` and `composition.go`).
 */
export class Evaluator {
  readonly #input: ExpressionInput;
  readonly #values = new Map<string, Value>();
  #remaining: number;
  /** What variables have cost since the last expression, and what of it was work. */
  #variablesCost = 0;
  #variablesWork = 0;

  constructor(input: ExpressionInput, costMax: number) {
    this.#input = input;
    this.#remaining = costMax;
  }

  /** What is left of the budget, in cost units. */
  get remaining(): number {
    return this.#remaining;
  }

  /**
   * Evaluates expressions in order, in slices of the event loop. Throws OutOfBudgetError, TooLargeHereError beyond the bounds, and the
   * reason of an aborted signal.
   */
  *evaluateAll(
    expressions: readonly (CompiledExpression | undefined)[],
    signal: AbortSignal,
  ): Steps<readonly (Outcome | undefined)[]> {
    const outcomes: (Outcome | undefined)[] = [];
    for (const expression of expressions) {
      const outcome = expression && this.evaluate(expression, signal);
      const known = outcome instanceof Promise ? yield* waitFor(outcome) : outcome;
      outcomes.push(known);
      const { shared } = this.#input;
      if (shared.isDue(known?.ms ?? 0)) yield* waitFor(shared.pause());
      signal.throwIfAborted();
    }
    return outcomes;
  }

  /** Evaluates one expression. Throws as `evaluateAll` does, but regards the signal only while it waits. */
  evaluate(expression: CompiledExpression, signal: AbortSignal): Promise<Outcome> | Outcome {
    const { program, error, source } = expression;
    if (program === undefined) {
      return { value: undefined, error: `compilation error: ${error ?? 'no program'}`, ms: 0 };
    }
    const startedAt = performance.now();
    const evaluateOnce = (): Outcome => {
      const { result, cost } = this.#run(program);
      const ms = performance.now() - startedAt;
      this.#spend(cost + this.#variablesCost);
      this.#variablesCost = 0;
      this.#variablesWork = 0;
      return result instanceof EvalError
        ? { value: undefined, error: `expression '${source}' resulted in error: ${result.message}`, ms }
        : { value: result, error: undefined, ms };
    };
    try {
      return evaluateOnce();
    } catch (thrown) {
      return this.#repeat(evaluateOnce, thrown, signal);
    }
  }

  /** Repeats an evaluation that needed an answer of the authorizer, or an object that only a webhook can convert. Throws all other errors. */
  async #repeat(evaluateOnce: () => Outcome, first: unknown, signal: AbortSignal): Promise<Outcome> {
    let thrown = first;
    for (let repeats = 1; ; repeats += 1) {
      if (repeats > REPEATS_MAX) throw thrown;
      if (thrown instanceof AnswerNeeded) await this.#input.access?.answer(thrown.question, signal);
      else if (thrown instanceof ConversionNeeded) await thrown.convert(signal);
      else throw thrown;
      try {
        return evaluateOnce();
      } catch (error) {
        thrown = error;
      }
    }
  }

  #spend(cost: number): void {
    if (cost > this.#remaining) throw new OutOfBudgetError();
    this.#remaining -= cost;
  }

  #run(program: Program): Evaluation {
    const { bounds } = this.#input.attributes.write;
    try {
      return program.evaluate({
        variables: (name) => this.#variable(name),
        costMax: CALL_COST_MAX,
        onCost:
          bounds === undefined ? undefined : (work) => keepCostWithin(bounds, this.#variablesWork + work),
      });
    } catch (error) {
      if (!(error instanceof CostLimitExceeded)) throw error;
      const { cost, work } = error;
      return { result: new EvalError(error.message), cost, work };
    }
  }

  #variable(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const value = this.#valueOf(name);
    if (value !== undefined) this.#values.set(name, value);
    return value;
  }

  #valueOf(name: string): Value | undefined {
    const input = this.#input;
    switch (name) {
      case 'object':
        return input.object?.value(input.endpoint) ?? null;
      case 'oldObject':
        return input.oldObject?.value(input.endpoint) ?? null;
      case 'request':
        return input.shared.request(input.endpoint);
      case 'namespaceObject':
        return jsonValue(input.namespaceObject);
      case 'params':
        return jsonValue(input.params);
      case 'authorizer':
        return input.access?.authorizer;
      case 'authorizer.requestResource':
        return input.access?.requestResource;
      case 'variables':
        return new LazyVariables(input.variables ?? new Map(), (program) => {
          const { result, cost, work } = this.#run(program);
          this.#variablesCost += cost;
          this.#variablesWork += work;
          // Each variable may cost as much as an expression, and there may be many.
          if (this.#variablesCost > this.#remaining) throw new OutOfBudgetError();
          return result;
        });
      default:
        return undefined;
    }
  }
}

/** The variables of a policy: each is evaluated when an expression first reads it, and only once. */
class LazyVariables extends MapValue {
  readonly #compiled: ReadonlyMap<string, CompiledExpression>;
  readonly #run: (program: Program) => Result;
  readonly #results = new Map<string, Result>();

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, run: (program: Program) => Result) {
    super();
    this.#compiled = compiled;
    this.#run = run;
  }

  override get size(): number {
    return this.#compiled.size;
  }

  override has(key: MapKey): boolean {
    return typeof key === 'string' && this.#compiled.has(key);
  }

  override find(key: MapKey): Value | undefined {
    const result = this.resolve(key);
    return result instanceof EvalError ? undefined : result;
  }

  override resolve(key: MapKey): Result | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(key);
    if (compiled === undefined) return undefined;
    // Of two variables with the same name, the second one can refer to itself.
    this.#results.set(key, new EvalError(`composited variable ${JSON.stringify(key)} refers to itself`));
    try {
      const result = this.#evaluate(key, compiled);
      this.#results.set(key, result);
      return result;
    } catch (error) {
      this.#results.delete(key);
      throw error;
    }
  }

  override keys(): Value[] {
    return Array.from(this.#compiled.keys());
  }

  #evaluate(name: string, { program, error }: CompiledExpression): Result {
    const variable = `composited variable ${JSON.stringify(name)}`;
    if (program === undefined) return new EvalError(`${variable} fails to compile: ${error ?? 'no program'}`);
    const result = this.#run(program);
    return result instanceof EvalError
      ? new EvalError(`${variable} fails to evaluate: ${result.message}`)
      : result;
  }
}
