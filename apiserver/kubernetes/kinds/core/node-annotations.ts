import { ANNOTATION } from '../../../../shared/names';
import type { Taint } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { isJsonObject } from '../../../../shared/object/clone';
import { fieldsOf, fieldsOfEach, text } from '../../../../shared/object/accessors';
import type { OwnerReference } from '../../../../shared/object/object';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';
import { forEachItem } from '../rules/primitives';

/** Annotations of nodes that mean something to the cluster. `validateTaints` judges a list of taints at a path. */
export function validateNodeAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
  validateTaints: (taints: readonly Taint[], path: string) => readonly FieldError[],
): FieldError[] {
  const { [ANNOTATION.nodeTaints]: taints = '', [ANNOTATION.nodeAvoidsPods]: avoided = '' } = annotations;
  return [
    ...(taints === '' ? [] : taintsIn(taints, path, validateTaints)),
    ...(avoided === '' ? [] : avoidedPods(avoided, path)),
  ];
}

function taintsIn(
  given: string,
  path: string,
  validateTaints: (taints: readonly Taint[], path: string) => readonly FieldError[],
): readonly FieldError[] {
  const { value, problem } = parsed(given);
  const isList = value === null || Array.isArray(value);
  if (problem !== undefined || !isList) {
    return [invalid(path, ANNOTATION.nodeTaints, problem ?? notInto(value, '[]core.Taint'))];
  }
  const taints = fieldsOfEach<Taint>(value).map(({ key, value: what, effect }) => ({
    key: text(key),
    value: text(what),
    effect: text(effect),
  }));
  return validateTaints(taints, `${path}.${ANNOTATION.nodeTaints}`);
}

interface AvoidedPods {
  readonly preferAvoidPods: readonly AvoidedEntry[];
}

interface AvoidedEntry {
  readonly podSignature: AvoidedSignature;
}

interface AvoidedSignature {
  readonly podController: OwnerReference;
}

/** The paths are upstream's. */
function avoidedPods(given: string, path: string): FieldError[] {
  const { value, problem } = parsed(given);
  const isMessage = value === null || isJsonObject(value);
  if (problem !== undefined || !isMessage) {
    const why = problem ?? notInto(value, 'v1.AvoidPods');
    return [invalid(`${path}.AvoidPods`, ANNOTATION.nodeAvoidsPods, why)];
  }
  const entries = fieldsOfEach<AvoidedEntry>(fieldsOf<AvoidedPods>(value).preferAvoidPods);
  return forEachItem(entries, `${path}.${ANNOTATION.nodeAvoidsPods}`, ({ podSignature }, at) => {
    const { podController: controller } = fieldsOf<AvoidedSignature>(podSignature);
    if (!isJsonObject(controller)) return [required(`${at}.PodSignature`)];
    if (fieldsOf<OwnerReference>(controller).controller === true) return [];
    return [invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')];
  });
}

function parsed(given: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(given) };
  } catch (error) {
    return { value: undefined, problem: jsonSyntaxProblem(Buffer.from(given)) ?? String(error) };
  }
}

/** In the words of the reference. */
function notInto(value: unknown, type: string): string {
  const kinds = { boolean: 'bool', object: Array.isArray(value) ? 'array' : 'object' } as const;
  const kind = typeof value;
  const told = kind === 'boolean' || kind === 'object' ? kinds[kind] : kind;
  return `json: cannot unmarshal ${told} into Go value of type ${type}`;
}
