import type { MessageTypes } from '../api/types/message-types';
import { ANNOTATION } from '../names';
import type { ApiObject } from '../object/object';
import type { ReadonlyJson } from '../object/json';
import { isJsonObject } from '../object/clone';
import { compact, objectAt, objectsAt } from '../object/json';
import { DecodeError, decodeObject } from '../schema/decode';
import { messageType } from '../schema/types';

/** What newer versions have in fields and older ones in these annotations: no version keeps one that it cannot read. */
const CARRIERS: readonly string[] = [
  ANNOTATION.autoscalerMetrics,
  ANNOTATION.autoscalerCurrentMetrics,
  ANNOTATION.autoscalerConditions,
  ANNOTATION.autoscalerBehavior,
];

/** The object without the annotations that carry fields of newer versions; itself where it has none of them. */
export function withoutCarriers(object: ApiObject): ApiObject {
  return withoutAnnotations(object, CARRIERS);
}

/** The messages of the list in an annotation; undefined when it holds no such list, and then nothing of it counts. */
export function annotationList(
  object: ApiObject,
  annotation: string,
  message: keyof MessageTypes,
): readonly ReadonlyJson[] | undefined {
  const value = annotationValue(object, annotation);
  if (value === null) return [];
  if (!Array.isArray(value)) return undefined;
  const read = value.map((item: unknown) => messageOf(message, item ?? {}));
  return read.every((item) => item !== undefined) ? read : undefined;
}

/** The behavior that an annotation has; undefined when it holds none, or one that says nothing. Names count in any case. */
export function annotationBehavior(object: ApiObject): ReadonlyJson | undefined {
  const value = annotationValue(object, ANNOTATION.autoscalerBehavior);
  const behavior = isJsonObject(value) ? messageOf(BEHAVIOR, lowerNames(value)) : undefined;
  return behavior === undefined || Object.keys(behavior).length === 0 ? undefined : behavior;
}

const BEHAVIOR = 'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior';

function annotationValue(object: ApiObject, annotation: string): unknown {
  const text = object.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf(message: keyof MessageTypes, value: unknown): ReadonlyJson | undefined {
  try {
    return decodeObject<object>(messageType(message), value).object as ReadonlyJson;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** The object with these annotations taken away. */
function withoutAnnotations(object: ApiObject, names: readonly string[]): ApiObject {
  const { annotations, ...metadata } = object.metadata;
  // An apply leaves null where its manager had the only ones.
  if (!isJsonObject(annotations) || !names.some((name) => name in annotations)) return object;
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
