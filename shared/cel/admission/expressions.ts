import type { StructTypes } from '../check/declarations';
import { BOOL, DYN, NULL, STRING, isSameType, listOf, mapOf, structOf, typeText } from '../check/types';
import type { CelType } from '../check/types';
import { Environment } from '../environment';
import type { Program } from '../environment';
import { PlanError } from '../eval/plan';
import { AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE } from '../library/authorization';
import { Issues } from '../parser/source';
import { PATCH_FUNCTIONS, withPatchTypes } from './patch-types';
import { NAMESPACE, REQUEST, REQUEST_STRUCTS } from './request-types';

/** The variables that an expression may use besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface ExpressionUse {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether it is the expression of a mutation, which makes objects and patches. */
  readonly isMutation?: boolean;
}

/** An expression of admission, ready to be evaluated, or why it cannot be. */
export interface CompiledExpression {
  readonly source: string;
  readonly program: Program | undefined;
  readonly error: string | undefined;
  /** Whether the error is one of planning, which upstream reports as internal. */
  readonly isInternal: boolean;
  readonly type: CelType | undefined;
}

/** The types that expressions may return. */
export const CONDITION_TYPES: readonly CelType[] = [BOOL];
export const MESSAGE_TYPES: readonly CelType[] = [STRING];
export const ANNOTATION_TYPES: readonly CelType[] = [STRING, NULL];

export const VARIABLES = structOf('kubernetes.variables');

/**
 * Compiles the expressions of one policy or webhook (k8s.io/apiserver `admission/plugin/cel/compile.go` and `composition.go`). Variables
 * are compiled in order; each sees those before it, and so does everything that is compiled later.
 */
export class AdmissionCompiler {
  readonly #release: number;
  readonly #variables: Map<string, CelType> | undefined;
  readonly #environments = new Map<string, Environment>();

  /**
   * @param release the release of Kubernetes, 1.x, whose libraries expressions may use
   * @param hasVariables whether there is a variable `variables`
   */
  constructor(release: number, hasVariables: boolean) {
    this.#release = release;
    this.#variables = hasVariables ? new Map() : undefined;
  }

  /** Compiles a variable, which may have any type, and declares it even if it has an error. */
  compileVariable(name: string, source: string, use: ExpressionUse, release?: number): CompiledExpression {
    const compiled = this.compile(source, undefined, use, release);
    this.#variables?.set(name, declaredType(compiled.type));
    return compiled;
  }

  /**
   * Compiles an expression.
   *
   * @param types the types it may return; undefined for any
   * @param release the release whose libraries it may use, if it is not that of the others
   */
  compile(
    source: string,
    types: readonly CelType[] | undefined,
    use: ExpressionUse,
    release = this.#release,
  ): CompiledExpression {
    const failed = (error: string, isInternal = false): CompiledExpression => ({
      source,
      program: undefined,
      error,
      isInternal,
      type: undefined,
    });
    const environment = this.#environment(use, release);
    const checked = environment.compile(source);
    if (checked instanceof Issues) return failed(`compilation failed: ${checked.toString()}`);
    const { type } = checked;
    if (types?.some((each) => isSameType(each, type)) === false) {
      const [first] = types;
      const found = `but got ${typeText(type)}`;
      return failed(
        types.length === 1 && first !== undefined
          ? `must evaluate to ${typeText(first)} ${found}`
          : `must evaluate to one of [${types.map(typeText).join(' ')}] ${found}`,
      );
    }
    try {
      return { source, program: environment.plan(checked), error: undefined, isInternal: false, type };
    } catch (error) {
      if (error instanceof PlanError) return failed(`program instantiation failed: ${error.message}`, true);
      throw error;
    }
  }

  #environment(
    { hasParams, hasAuthorizer, isMutation = false }: ExpressionUse,
    release: number,
  ): Environment {
    const key = [hasParams, hasAuthorizer, isMutation, release].join(' ');
    const known = this.#environments.get(key);
    if (known !== undefined) return known;
    const structs: StructTypes =
      this.#variables === undefined
        ? REQUEST_STRUCTS
        : new Map<string, ReadonlyMap<string, CelType>>([
            ...REQUEST_STRUCTS,
            [VARIABLES.name, this.#variables],
          ]);
    const made = new Environment({
      release,
      variables: [
        { name: 'object', type: DYN },
        { name: 'oldObject', type: DYN },
        { name: 'namespaceObject', type: NAMESPACE },
        { name: 'request', type: REQUEST },
        ...(hasParams ? [{ name: 'params', type: DYN }] : []),
        ...(hasAuthorizer
          ? [
              { name: 'authorizer', type: AUTHORIZER_TYPE },
              { name: 'authorizer.requestResource', type: RESOURCE_CHECK_TYPE },
            ]
          : []),
        ...(this.#variables === undefined ? [] : [{ name: 'variables', type: VARIABLES }]),
      ],
      structs: isMutation ? withPatchTypes(structs) : structs,
      ...(isMutation ? { functions: PATCH_FUNCTIONS } : {}),
    });
    this.#environments.set(key, made);
    return made;
  }
}

/** The type by which other expressions see a variable: objects and opaque values are `dyn` (`convertCelTypeToDeclType`). */
export function declaredType(type: CelType | undefined): CelType {
  const [first = DYN, second = DYN] = type?.params ?? [];
  if (type === undefined || HIDDEN.has(type.kind)) return DYN;
  if (type.kind === 'list') return listOf(declaredType(first));
  return type.kind === 'map' ? mapOf(declaredType(first), declaredType(second)) : type;
}

/** Kinds of types that other expressions do not see. */
const HIDDEN: ReadonlySet<string> = new Set(['struct', 'opaque', 'type', 'typeParam', 'error']);
