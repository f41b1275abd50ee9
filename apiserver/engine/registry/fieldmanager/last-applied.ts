import { ANNOTATION } from '../../../../shared/names';
import { isJsonObject } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import { computeAppliedSet, ShapeError } from '../../../../shared/fieldset/applied';
import { compareObjects } from '../../../../shared/fieldset/compare';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { difference, union } from '../../../../shared/fieldset/field-set';
import { DecodeError, decodeJson } from '../../../../shared/schema/decode';
import { stringifyExact } from '../../../../shared/object/exact-text';
import type { ManagedKind } from './managed-kind';

/** Maximum total size of annotations. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/**
 * The fields that client-side apply set last and that still have that value; undefined without a last-
 * applied annotation.
 */
export function ownedByLastApplied(kind: ManagedKind, live: ApiObject): FieldSet | undefined {
  const record = live.metadata.annotations?.[ANNOTATION.lastAppliedConfiguration] ?? '';
  if (record === '') return undefined;
  try {
    const last = decodeJson(Buffer.from(record));
    if (!isJsonObject(last) || last['apiVersion'] !== kind.apiVersion) return undefined;
    const { added, modified, removed } = compareObjects(kind.shape, last, live);
    return difference(computeAppliedSet(kind.shape, last), union(union(modified, added), removed));
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ShapeError) return undefined;
    throw error;
  }
}

/**
 * Updates the last-applied annotation when `kubectl` uses server-side apply, so that a user can return to
 * client-side apply.
 */
export function refreshLastApplied(
  { config, writer }: { readonly config: ApiObject; readonly writer: { readonly manager: string } },
  next: ApiObject,
): ApiObject {
  const { annotations = {} } = next.metadata;
  const name = ANNOTATION.lastAppliedConfiguration;
  if (writer.manager !== 'kubectl' || (annotations[name] ?? '') === '') return next;
  const record = `${stringifyExact(withoutRecord(config))}\n`;
  const { [name]: _replaced, ...others } = annotations;
  const bytes = Object.entries(others).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    Buffer.byteLength(name) + Buffer.byteLength(record),
  );
  const kept = bytes > ANNOTATIONS_BYTES_MAX ? others : { ...others, [name]: record };
  return { ...next, metadata: { ...next.metadata, annotations: kept } };
}

function withoutRecord(config: ApiObject): ApiObject {
  const { annotations } = config.metadata;
  if (annotations?.[ANNOTATION.lastAppliedConfiguration] === undefined) return config;
  const { [ANNOTATION.lastAppliedConfiguration]: _record, ...others } = annotations;
  return { ...config, metadata: { ...config.metadata, annotations: others } };
}
