import type { ApiObject } from '../object/object';
import type { ReadonlyJson } from '../object/json';
import { isJsonObject } from '../object/clone';
import { compact, objectAt, objectsAt } from '../object/json';

/** The JSON value in an annotation; undefined when there is none or it is no JSON. */
export function annotationValue(object: ApiObject, annotation: string): unknown {
  const text = object.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The objects of the list in an annotation; undefined when it holds no list. */
export function annotationList(object: ApiObject, annotation: string): readonly ReadonlyJson[] | undefined {
  const value = annotationValue(object, annotation);
  return Array.isArray(value) ? value.filter(isJsonObject) : undefined;
}

/** The object with these annotations taken away. */
export function withoutAnnotations(object: ApiObject, names: readonly string[]): ApiObject {
  const { annotations, ...metadata } = object.metadata;
  if (annotations === undefined || !names.some((name) => name in annotations)) return object;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
  };
}

/** The object with these annotations added; those that are undefined are passed over. */
export function withAnnotations(
  object: ApiObject,
  values: Readonly<Record<string, string | undefined>>,
): ApiObject {
  const added = compact(values) as Readonly<Record<string, string>>;
  if (Object.keys(added).length === 0) return object;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } };
}

/** The behavior as the annotation has it: upstream writes its internal type there, whose fields begin with a capital. */
export function behaviorText(behavior: ReadonlyJson): string {
  return JSON.stringify({
    ScaleUp: rulesText(objectAt(behavior, 'scaleUp')),
    ScaleDown: rulesText(objectAt(behavior, 'scaleDown')),
  });
}

function rulesText(rules: ReadonlyJson | undefined): ReadonlyJson | null {
  if (rules === undefined) return null;
  const policies = Array.isArray(rules['policies']) ? objectsAt(rules, 'policies') : null;
  return {
    StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
    SelectPolicy: rules['selectPolicy'] ?? null,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
  };
}

/** The behavior out of such an annotation's value; names count in any case. */
export function behaviorOf(value: unknown): ReadonlyJson | undefined {
  return isJsonObject(value) ? lowerNames(value) : undefined;
}

function lowerNames(value: ReadonlyJson): ReadonlyJson {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([name, each]) => [name.charAt(0).toLowerCase() + name.slice(1), lowerValue(each)]),
  );
}

function lowerValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerValue);
  return isJsonObject(value) ? lowerNames(value) : value;
}
