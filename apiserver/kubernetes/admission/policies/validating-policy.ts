import type { ValidatingAdmissionPolicy } from '../../../../shared/api/types/admissionregistration-v1';
import {
  ANNOTATION_TYPES,
  CONDITION_TYPES,
  MESSAGE_TYPES,
} from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression } from '../../../../shared/cel/admission/expressions';
import type { Steps } from '../../../../shared/concurrency/steps';
import { typeOfValue } from '../../../../shared/cel/eval/values';
import type { Outcome } from '../expressions/evaluator';
import { Evaluator, OutOfBudgetError, POLICY_COST_MAX } from '../expressions/evaluator';
import type { ExpressionInput } from '../expressions/evaluator';
import type { CheckError, ExpressionMetrics } from '../expressions/expression-metrics';
import { Policy } from './policy';

/** What a policy decided about a write: for each validation, or once if it could not be evaluated. */
export interface PolicyDecision {
  /** `admit` of a failed evaluation follows failurePolicy Ignore. */
  readonly action: 'admit' | 'deny';
  readonly isError: boolean;
  readonly message: string;
  /** The reason of the refusal; empty for the default. */
  readonly reason: string;
  readonly ms: number;
}

/** What becomes of an audit annotation. */
export type PolicyAnnotation =
  | { readonly action: 'publish'; readonly key: string; readonly value: string }
  | { readonly action: 'error'; readonly error: string; readonly ms: number };

export interface PolicyResult {
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly PolicyAnnotation[];
}

const NO_RESULT: PolicyResult = { decisions: [], annotations: [] };
const MESSAGE_BYTES_MAX = 5 * 1024;

interface Validation {
  readonly expression: string;
  readonly message: string;
  readonly reason: string;
}

/** A ValidatingAdmissionPolicy (k8s.io/apiserver `admission/plugin/policy/validating/validator.go`). */
export class ValidatingPolicy extends Policy {
  readonly #validations: readonly Validation[];
  readonly #expressions: CompiledExpression[] = [];
  /** By index of the validation. */
  readonly #messages: (CompiledExpression | undefined)[] = [];
  readonly #annotations: CompiledExpression[] = [];
  readonly #keys: readonly string[];

  constructor({ metadata, spec }: ValidatingAdmissionPolicy) {
    super(metadata.name ?? '', spec);
    const { validations = [], auditAnnotations = [] } = spec;
    this.#validations = validations.map(({ expression, message = '', reason = '' }) => ({
      expression,
      message,
      reason,
    }));
    this.#keys = auditAnnotations.map(({ key }) => key);
    for (const [index, { expression, messageExpression = '' }] of validations.entries()) {
      this.add(expression, CONDITION_TYPES, (compiled) => this.#expressions.push(compiled));
      this.#messages[index] = undefined;
      if (messageExpression === '') continue;
      const keep = (compiled: CompiledExpression): void => {
        this.#messages[index] = compiled;
      };
      this.add(messageExpression, MESSAGE_TYPES, keep, { hasAuthorizer: false });
    }
    for (const { valueExpression } of auditAnnotations) {
      this.add(valueExpression, ANNOTATION_TYPES, (compiled) => this.#annotations.push(compiled));
    }
  }

  /** Evaluates the policy for one binding and one parameter. Throws TooLargeHereError beyond the bounds of the request. */
  *validate(input: ExpressionInput, metrics: ExpressionMetrics, signal: AbortSignal): Steps<PolicyResult> {
    const { matches, error: problem } = yield* this.matches(input, metrics, signal);
    if (problem !== undefined) return this.#failed(problem);
    if (!matches) return NO_RESULT;
    try {
      const validations = new Evaluator(input, POLICY_COST_MAX);
      const outcomes = yield* validations.evaluateAll(this.#expressions, signal);
      const withoutAccess = { ...input, access: undefined };
      const messages = this.#messages.some((each) => each !== undefined)
        ? yield* this.#evaluateMessages(withoutAccess, validations.remaining, signal)
        : [];
      const decisions = outcomes.map((outcome, index) => this.#decide(index, outcome, messages));
      if (this.#annotations.length === 0) return { decisions, annotations: [] };
      const annotations = yield* new Evaluator(withoutAccess, POLICY_COST_MAX).evaluateAll(
        this.#annotations,
        signal,
      );
      return {
        decisions,
        annotations: annotations.flatMap((outcome, index) => this.#annotate(index, outcome)),
      };
    } catch (error) {
      if (!(error instanceof OutOfBudgetError)) throw error;
      return this.#failed(error.message);
    }
  }

  #failed(message: string, ms = 0): PolicyResult {
    return { ...NO_RESULT, decisions: [this.#error(message, ms)] };
  }

  #error(message: string, ms: number): PolicyDecision {
    return { action: this.failsOpen ? 'admit' : 'deny', isError: true, message, reason: '', ms };
  }

  /** Messages may use what the validations left of the budget. */
  *#evaluateMessages(
    input: ExpressionInput,
    costMax: number,
    signal: AbortSignal,
  ): Steps<readonly (Outcome | undefined)[] | OutOfBudgetError> {
    try {
      return yield* new Evaluator(input, costMax).evaluateAll(this.#messages, signal);
    } catch (error) {
      if (error instanceof OutOfBudgetError) return error;
      throw error;
    }
  }

  #decide(
    index: number,
    outcome: Outcome | undefined,
    messages: readonly (Outcome | undefined)[] | OutOfBudgetError,
  ): PolicyDecision {
    const { value, error, ms = 0 } = outcome ?? {};
    if (error !== undefined) return this.#error(error, ms);
    if (messages instanceof OutOfBudgetError) {
      return this.#error(`failed messageExpression: ${messages.message}`, ms);
    }
    if (value === true) return { action: 'admit', isError: false, message: '', reason: '', ms };
    const { expression = '', message = '', reason = '' } = this.#validations[index] ?? {};
    const made = usableMessage(messages[index]?.value);
    const text =
      [made, message.trim(), `failed expression: ${expression.trim()}`].find((each) => each !== '') ?? '';
    return { action: 'deny', isError: false, message: text, reason: reason === '' ? 'Invalid' : reason, ms };
  }

  #annotate(index: number, outcome: Outcome | undefined): readonly PolicyAnnotation[] {
    const { value, error, ms = 0 } = outcome ?? {};
    if (error !== undefined) return this.failsOpen ? [] : [{ action: 'error', error, ms }];
    if (typeof value === 'string') {
      const key = this.#keys[index] ?? '';
      return value.trim() === '' ? [] : [{ action: 'publish', key, value: value.trim() }];
    }
    if (value === null || value === undefined) return [];
    const source = this.#annotations[index]?.source ?? '';
    const why = `valueExpression '${source}' resulted in unsupported return type: ${typeOfValue(value).name}. Return type must be either string or null.`;
    return [{ action: 'error', error: why, ms }];
  }
}

/** A message that is too long, or has several lines, is not used. */
function usableMessage(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  return Buffer.byteLength(text) > MESSAGE_BYTES_MAX || text.includes('\n') ? '' : text;
}

/** The class of a decision in metrics (k8s.io/apiserver `policy/validating/errors.go`). */
export function checkErrorOf({ action, isError, message }: PolicyDecision): CheckError {
  if (action === 'admit' && !isError) return 'no_error';
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget')
    ? 'out_of_budget'
    : 'invalid_error';
}
