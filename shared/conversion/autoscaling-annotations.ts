import type { MessageTypes } from '../api/types/message-types';
import { ANNOTATION } from '../names';
import type { ApiObject } from '../object/object';
import type { ReadonlyJson } from '../object/json';
import { isJsonObject } from '../object/clone';
import { compact, objectAt, objectsAt } from '../object/json';
import { DecodeError, decodeObject } from '../schema/decode';
import { messageType } from '../schema/types';

/**
 * Annotations in which older versions carry fields of newer ones. No version returns an annotation that it
 * cannot parse.
 */
const CARRIERS: readonly string[] = [
  ANNOTATION.autoscalerMetrics,
  ANNOTATION.autoscalerCurrentMetrics,
  ANNOTATION.autoscalerConditions,
  ANNOTATION.autoscalerBehavior,
];

/** Removes the carrier annotations from an object; returns the object itself where it has none. */
export function withoutCarriers(object: ApiObject): ApiObject {
  return withoutAnnotations(object, CARRIERS);
}

/** Parses the list of messages in an annotation; undefined when it is invalid in any part. */
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

/**
 * Parses the behavior in an annotation; undefined when there is none or it is empty. Field names are
 * case-insensitive.
 */
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

/** Removes these annotations. */
function withoutAnnotations(object: ApiObject, names: readonly string[]): ApiObject {
  const { annotations, ...metadata } = object.metadata;
  // Server-side apply leaves null where its manager had the only annotations.
  if (!isJsonObject(annotations) || !names.some((name) => name in annotations)) return object;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
  };
}

/** Adds these annotations; undefined ones are skipped. */
export function withAnnotations(
  object: ApiObject,
  values: Readonly<Record<string, string | undefined>>,
): ApiObject {
  const added = compact(values) as Readonly<Record<string, string>>;
  if (Object.keys(added).length === 0) return object;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } };
}

/**
 * Formats a behavior for the annotation: upstream writes its internal type, whose field names are capitalized.
 */
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
