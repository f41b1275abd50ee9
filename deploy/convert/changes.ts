import { deepEqual, isJsonObject } from '../../shared/object/clone';

/** Fields and positions from the root of an object. */
export type FieldPath = readonly (string | number)[];

/** One thing to write into a manifest, or to take out of it. */
export type Change =
  | { readonly path: FieldPath; readonly value: unknown }
  /** What stood there is gone. */
  | { readonly path: FieldPath; readonly value: undefined };

/**
 * What has to be done to `before` so that it becomes `after`, each in the smallest place: fields that stay are not mentioned, so that what
 * somebody wrote about them can stay too. A list of another length is replaced as a whole.
 */
export function changesBetween(before: unknown, after: unknown, path: FieldPath = []): readonly Change[] {
  if (deepEqual(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
    return [
      ...gone.map((key) => ({ path: [...path, key], value: undefined })),
      ...Object.entries(after).flatMap(([key, value]) =>
        changesBetween(own(before, key), value, [...path, key]),
      ),
    ];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((each, index) => changesBetween(each, after[index], [...path, index]));
  }
  return [{ path, value: after }];
}

function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
