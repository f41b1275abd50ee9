import { AdmissionCompiler, CONDITION_TYPES } from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression, ExpressionUse } from '../../../../shared/cel/admission/expressions';
import type { MatchCondition } from '../../../../shared/api/types/admissionregistration-v1';
import { ALL_RELEASES } from '../../../../shared/cel/environment';
import { Slices } from '../../../../shared/concurrency/slices';
import type { Steps } from '../../../../shared/concurrency/steps';
import { waitFor } from '../../../../shared/concurrency/steps';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { keepSourceWithin } from '../../kinds/rules/expression-bounds';
import { CONDITIONS_COST_MAX, Evaluator, OutOfBudgetError } from './evaluator';
import type { ExpressionInput, Outcome } from './evaluator';
import type { ConditionLabels, ExpressionMetrics } from './expression-metrics';

/** Expressions that are compiled when they are first needed, in order, one in each slice of the event loop. */
export class CompileQueue {
  readonly #pending: { readonly characters: number; readonly compile: () => void }[] = [];

  add(characters: number, compile: () => void): void {
    this.#pending.push({ characters, compile });
  }

  /**
   * Compiles what is not compiled yet; undefined if there is nothing. Rejects with TooLargeHereError for an expression that is too long
   * for a slice.
   */
  prepare(bounds: LoopBounds | undefined): Promise<void> | undefined {
    return this.#pending.length === 0 ? undefined : this.#compileInSlices(bounds);
  }

  async #compileInSlices(bounds: LoopBounds | undefined): Promise<void> {
    const slices = new Slices();
    for (let [next] = this.#pending; next !== undefined; [next] = this.#pending) {
      keepSourceWithin(bounds, next.characters);
      next.compile();
      this.#pending.shift();
      if (slices.due()) await slices.pause();
    }
  }
}

/** What conditions say about a write: whether the webhook or policy applies, or why that is unknown. */
export type MatchResult =
  | { readonly matches: boolean; readonly error?: undefined }
  | { readonly matches: false; readonly error: string };

export interface ConditionsContext {
  readonly labels: Omit<ConditionLabels, 'operation'>;
  readonly failsOpen: boolean;
  readonly metrics: ExpressionMetrics;
}

/** The conditions of a webhook or a policy (k8s.io/apiserver `admission/plugin/webhook/matchconditions`). */
export class MatchConditions {
  readonly #compiled: CompiledExpression[] = [];
  readonly queue: CompileQueue;

  /**
   * @param compiler and `queue` of the policy; a webhook has its own
   */
  constructor(
    conditions: readonly MatchCondition[],
    use: ExpressionUse,
    {
      compiler = new AdmissionCompiler(ALL_RELEASES, false),
      queue = new CompileQueue(),
    }: { readonly compiler?: AdmissionCompiler; readonly queue?: CompileQueue } = {},
  ) {
    this.queue = queue;
    for (const { expression } of conditions) {
      queue.add(expression.length, () => {
        this.#compiled.push(compiler.compile(expression, CONDITION_TYPES, use));
      });
    }
  }

  /**
   * Evaluates the conditions: a false one decides, whatever the others are. Otherwise an error follows the failure policy. Throws
   * TooLargeHereError beyond the bounds of the request.
   */
  *match(
    input: ExpressionInput,
    { labels, failsOpen, metrics }: ConditionsContext,
    signal: AbortSignal,
  ): Steps<MatchResult> {
    const observed = { ...labels, operation: input.attributes.operation };
    const startedAt = performance.now();
    const compiling = this.queue.prepare(input.attributes.write.bounds);
    if (compiling !== undefined) yield* waitFor(compiling);
    let outcomes: readonly (Outcome | undefined)[];
    try {
      outcomes = yield* new Evaluator(input, CONDITIONS_COST_MAX).evaluateAll(this.#compiled, signal);
    } catch (error) {
      if (!(error instanceof OutOfBudgetError)) throw error;
      metrics.observeConditions(observed, performance.now() - startedAt);
      return failsOpen ? { matches: false } : { matches: false, error: error.message };
    }
    const failed = outcomes.find((outcome) => outcome?.value === false);
    const before = failed === undefined ? outcomes : outcomes.slice(0, outcomes.indexOf(failed));
    const errors = before.flatMap((outcome) => outcome?.error ?? []);
    for (const _ of errors) metrics.conditionFailed(observed);
    metrics.observeConditions(observed, performance.now() - startedAt);
    if (failed !== undefined) return { matches: false };
    if (errors.length === 0) return { matches: true };
    return failsOpen ? { matches: false } : { matches: false, error: joined(errors) };
  }
}

/** Joins errors as upstream's aggregates do. */
function joined(errors: readonly string[]): string {
  const distinct = Array.from(new Set(errors));
  const [first = ''] = distinct;
  return distinct.length === 1 ? first : `[${distinct.join(', ')}]`;
}
