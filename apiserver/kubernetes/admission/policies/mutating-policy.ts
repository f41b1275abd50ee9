import type { MutatingAdmissionPolicy } from '../../../../shared/api/types/admissionregistration-v1';
import type { CompiledExpression } from '../../../../shared/cel/admission/expressions';
import { APPLIED_OBJECT, JSON_PATCH, misplacedTypes } from '../../../../shared/cel/admission/patch-types';
import { NoJsonError, toJson } from '../../../../shared/cel/eval/json-values';
import { ListValue, MapValue, StructValue } from '../../../../shared/cel/eval/values';
import type { Value } from '../../../../shared/cel/eval/values';
import { ShapeError, computeAppliedSet } from '../../../../shared/fieldset/applied';
import { mergeConfig } from '../../../../shared/fieldset/merge';
import type { Shape } from '../../../../shared/fieldset/shape';
import { isJsonObject } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import { applyJsonPatch } from '../../../../shared/patch/json-patch';
import { PatchError, TestFailedError } from '../../../../shared/patch/patch-error';
import { shapeOf } from '../../../engine/registry/field-tracking';
import type { Endpoint } from '../../../engine/registry/resource';
import { Evaluator, POLICY_COST_MAX } from '../expressions/evaluator';
import type { ExpressionInput } from '../expressions/evaluator';
import { Policy } from './policy';

/** The expression of a mutation cannot be used; the failure policy decides. */
export class MutationError extends Error {
  readonly isCompileError: boolean;

  constructor(message: string, isCompileError = false) {
    super(message);
    this.isCompileError = isCompileError;
  }
}

/** Changes an object in the version that the policy matched, and returns the result as JSON; the object itself if nothing changes. */
export type Mutate = (input: ExpressionInput, object: ApiObject, signal: AbortSignal) => Promise<object>;

/** A MutatingAdmissionPolicy (k8s.io/apiserver `admission/plugin/policy/mutating`). */
export class MutatingPolicy extends Policy {
  /** In order; each sees what those before it made. */
  readonly mutations: readonly Mutate[];
  /** reinvocationPolicy IfNeeded. */
  readonly isReinvoked: boolean;

  constructor({ metadata, spec }: MutatingAdmissionPolicy) {
    super(metadata.name ?? '', spec);
    this.isReinvoked = spec.reinvocationPolicy === 'IfNeeded';
    this.mutations = (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const isApply = patchType === 'ApplyConfiguration';
      const source = (isApply ? applyConfiguration : jsonPatch)?.expression ?? '';
      let compiled: CompiledExpression | undefined;
      const keep = (made: CompiledExpression): void => {
        compiled = made;
      };
      this.add(source, [isApply ? APPLIED_OBJECT : JSON_PATCH], keep, { isMutation: true });
      return async (input, object, signal) => {
        const value = await this.#evaluate(compiled, input, signal);
        return isApply ? applied(value, object, input.endpoint) : patched(value, object);
      };
    });
  }

  async #evaluate(
    compiled: CompiledExpression | undefined,
    input: ExpressionInput,
    signal: AbortSignal,
  ): Promise<Value> {
    if (compiled?.error !== undefined) throw new MutationError(compiled.error, true);
    const evaluator = new Evaluator({ ...input, variables: this.variables }, POLICY_COST_MAX);
    const outcome = compiled && (await evaluator.evaluate(compiled, signal));
    if (outcome?.value === undefined)
      throw new MutationError(outcome?.error ?? 'the expression has no value');
    return outcome.value;
  }
}

/** Merges what an expression returned into the object, as server-side apply does, without owners of fields. */
function applied(value: Value, object: ApiObject, endpoint: Endpoint): object {
  if (!(value instanceof StructValue))
    throw new MutationError('unsupported return type from ApplyConfiguration expression');
  keepTypesInPlace(value);
  const { apiVersion, kind } = object;
  const config = { ...(jsonOf(value) as object), apiVersion, kind };
  const shape = shapeOf(endpoint);
  try {
    computeAppliedSet(shape, config);
  } catch (error) {
    throw shapeProblem(error, 'failed to convert patch object to typed object');
  }
  const atomic = atomicsIn(shape, config, '');
  if (atomic.length > 0) {
    const which = atomic.join(', ');
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${which}`,
    );
  }
  try {
    return mergeConfig(shape, object, config);
  } catch (error) {
    throw shapeProblem(error, 'failed to convert original object to typed object');
  }
}

function shapeProblem(error: unknown, what: string): unknown {
  return error instanceof ShapeError
    ? new MutationError(`error applying patch: ${what}: ${error.message}`)
    : error;
}

/** Throws for objects whose types do not follow their places; `type` is that of the value itself. */
function keepTypesInPlace(value: Value, type = APPLIED_OBJECT.name): void {
  const misplaced = misplacedTypes(value, type);
  if (misplaced.length > 0) throw new MutationError(`type mismatch: ${misplaced.join('\n')}`);
}

function jsonOf(value: Value): unknown {
  try {
    return toJson(value);
  } catch (error) {
    throw error instanceof NoJsonError ? new MutationError(error.message) : error;
  }
}

/** The paths of atomic lists, maps and structs that a configuration has: a part of one would replace all of it. */
function atomicsIn(shape: Shape | undefined, value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (shape?.kind === 'leaf' || shape?.kind === 'deduced') return [path];
    if (shape?.kind !== 'set' && shape?.kind !== 'keyed') return [];
    return items.flatMap((item, index) => atomicsIn(shape.element, item, `${path}[${String(index)}]`));
  }
  if (!isJsonObject(value)) return [];
  if (shape?.kind === 'leaf') return [path];
  // As upstream, only declared fields are looked into: a list below an undeclared one is replaced.
  if (shape?.kind !== 'object') return [];
  return Object.entries(value).flatMap(([name, each]) =>
    atomicsIn(shape.fields.get(name), each, `${path}.${name}`),
  );
}

/** Applies the operations that an expression returned. A test that fails leaves the object as it is. */
function patched(value: Value, object: ApiObject): object {
  if (!(value instanceof ListValue))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  const operations = Array.from(value, (operation) => {
    if (!(operation instanceof MapValue))
      throw new MutationError(
        'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
      );
    const added = operation.find('value');
    if (added instanceof StructValue) keepTypesInPlace(added, added.typeName);
    return jsonOf(operation);
  });
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.cause instanceof TestFailedError) return object;
    const { message } = error.cause instanceof PatchError ? error.cause : error;
    throw new MutationError(`JSON Patch: ${message}`);
  }
}
