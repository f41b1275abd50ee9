import { apiLevel } from '../../../../shared/api-level';
import type { MatchCondition, Variable } from '../../../../shared/api/types/admissionregistration-v1';
import { AdmissionCompiler, CONDITION_TYPES } from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression, ExpressionUse } from '../../../../shared/cel/admission/expressions';
import type { CelType } from '../../../../shared/cel/check/types';
import { ALL_RELEASES } from '../../../../shared/cel/environment';
import type { FieldError } from '../../../../shared/errors/field-error';
import { internalError, invalid, required, tooMany } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { keepSourceWithin } from '../rules/expression-bounds';
import { forEachItem, noDuplicates, requiredText } from '../rules/primitives';

const CONDITIONS_MAX = 64;

/** What the expressions of an object depend on. */
export interface ExpressionContext {
  readonly hasParams: boolean;
  /** Whether expressions may use `variables`. */
  readonly hasVariables: boolean;
  readonly bounds: LoopBounds | undefined;
}

/** One expression, and how it is compiled. */
export interface GivenExpression {
  readonly source: string;
  /** The types it may return. */
  readonly types: readonly CelType[];
  readonly use?: Partial<ExpressionUse>;
  /** Whether the stored object has it: such ones may use all libraries. */
  readonly isStored: boolean;
  /** The message if it is empty. */
  readonly detail?: string;
  /** Written in errors instead of the compiled text. */
  readonly shown?: string;
}

/**
 * Compiles the expressions of one policy or configuration (k8s.io/kubernetes `apis/admissionregistration/validation`). New expressions may
 * use the libraries of the release before the API level, so that an older replica can evaluate them, too.
 */
export class ExpressionValidator {
  readonly #compiler: AdmissionCompiler;
  /** Conditions see no variables. */
  readonly #conditions: AdmissionCompiler;
  readonly #context: ExpressionContext;
  #characters = 0;

  constructor(context: ExpressionContext) {
    this.#context = context;
    this.#compiler = new AdmissionCompiler(apiLevel - 1, context.hasVariables);
    this.#conditions = new AdmissionCompiler(apiLevel - 1, false);
  }

  /** Validates conditions under which a policy or a webhook applies to a request. */
  conditions(
    conditions: readonly MatchCondition[],
    path: string,
    stored: readonly MatchCondition[] = [],
  ): FieldError[] {
    const before = new Set(stored.map(({ expression }) => expression));
    return [
      ...(conditions.length > CONDITIONS_MAX ? [tooMany(path, conditions.length, CONDITIONS_MAX)] : []),
      ...forEachItem(conditions, path, ({ name, expression }, at) => [
        ...this.#validate(
          {
            source: expression.trim(),
            types: CONDITION_TYPES,
            isStored: before.has(expression.trim()),
            detail: '',
          },
          `${at}.expression`,
          this.#conditions,
        ),
        ...requiredText(name, `${at}.name`, qualifiedNameProblems),
      ]),
      ...noDuplicates(
        conditions.map(({ name }) => name),
        (at) => `${path}[${String(at)}].name`,
      ),
    ];
  }

  expression(given: GivenExpression, path: string): FieldError[] {
    return this.#validate(given, path, this.#compiler);
  }

  /** Validates a variable and declares it for the expressions after it. */
  variable({ name, expression }: Variable, path: string, isStored: boolean): FieldError[] {
    if (expression.trim() === '') return [required(path, 'expression is not specified')];
    this.#bound(expression);
    const release = isStored ? ALL_RELEASES : undefined;
    return problemsOf(this.#compiler.compileVariable(name, expression, this.#use({}), release), path);
  }

  #validate(
    { source, types, use = {}, isStored, detail, shown }: GivenExpression,
    path: string,
    compiler: AdmissionCompiler,
  ): FieldError[] {
    if (source.trim() === '') return [required(path, detail)];
    this.#bound(source);
    const release = isStored ? ALL_RELEASES : undefined;
    return problemsOf(compiler.compile(source, types, this.#use(use), release), path, shown);
  }

  #use(use: Partial<ExpressionUse>): ExpressionUse {
    return { hasParams: this.#context.hasParams, hasAuthorizer: true, ...use };
  }

  #bound(source: string): void {
    this.#characters += source.length;
    keepSourceWithin(this.#context.bounds, this.#characters);
  }
}

function problemsOf(
  { source, error, isInternal }: CompiledExpression,
  path: string,
  shown = source,
): FieldError[] {
  if (error === undefined) return [];
  return [isInternal ? internalError(path, error) : invalid(path, shown, error)];
}
