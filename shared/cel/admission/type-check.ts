import type { FieldTypes } from '../check/declarations';
import { DYN } from '../check/types';
import type { CelType } from '../check/types';
import { ALL_RELEASES, Environment } from '../environment';
import { AUTHORIZER_TYPE } from '../library/authorization';
import { Issues } from '../parser/source';
import { declareData } from '../schema/data-types';
import type { JsonSchema, Structs } from '../schema/data-types';
import { VARIABLES, declaredType } from './expressions';
import { NAMESPACE, REQUEST, REQUEST_STRUCTS } from './request-types';

/** A kind of objects, with its schema without references; undefined if its values are not known. */
export interface CheckedKind {
  readonly kind: string;
  readonly schema: JsonSchema | undefined;
}

/**
 * Checks the expressions of a policy against the types of one kind of objects that it matches (k8s.io/apiserver
 * `admission/plugin/policy/validating/typechecking.go`). Any result type is allowed, and nothing is planned.
 */
export class TypeCheck {
  readonly #environment: Environment;
  readonly #variables = new Map<string, CelType>();

  /**
   * @param object the kind of `object` and `oldObject`
   * @param params the kind of `params`; undefined for policies without parameters
   */
  constructor(object: CheckedKind, params: CheckedKind | undefined) {
    const structs = new Map<string, FieldTypes>([...REQUEST_STRUCTS, [VARIABLES.name, this.#variables]]);
    const ofObject = declared(object, `${object.kind}1`, structs);
    this.#environment = new Environment({
      release: ALL_RELEASES,
      variables: [
        { name: 'namespaceObject', type: NAMESPACE },
        { name: 'request', type: REQUEST },
        { name: 'object', type: ofObject },
        { name: 'oldObject', type: ofObject },
        // The same kind is another type as a parameter, as upstream has it.
        ...(params === undefined
          ? []
          : [{ name: 'params', type: declared(params, `${params.kind}2`, structs) }]),
        { name: 'authorizer', type: AUTHORIZER_TYPE },
        { name: 'variables', type: VARIABLES },
      ],
      structs,
    });
  }

  /** Declares a variable for all later expressions, even if it has an error. */
  declare(name: string, source: string): void {
    const checked = this.#environment.compile(source);
    this.#variables.set(name, checked instanceof Issues ? DYN : declaredType(checked.type));
  }

  /** Returns the issues of an expression in cel-go's words; empty if there are none. */
  issuesOf(source: string): string {
    const checked = this.#environment.compile(source);
    return checked instanceof Issues ? checked.toString() : '';
  }
}

function declared({ schema }: CheckedKind, name: string, structs: Map<string, FieldTypes>): CelType {
  const made: Structs = structs;
  return (schema && declareData(schema, { structs: made, name, isResource: true }))?.celType ?? DYN;
}
