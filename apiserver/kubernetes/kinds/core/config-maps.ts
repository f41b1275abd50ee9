import type { ConfigMap } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, tooLong } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { Base64 } from '../../../../shared/object/values';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { countOf } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { configKeyProblems, forEachItem, invalidForEach } from '../rules/primitives';

/** All values of one ConfigMap or Secret together, in bytes. */
export const CONFIG_BYTES_MAX = 1024 * 1024;

/** Keys are file names, no key is in both maps, and the total size is bounded. */
const configMapRules: Pick<Strategy<ConfigMap>, 'validate' | 'validateUpdate'> = {
  validate: ({ data = {}, binaryData: binary = {} }) => {
    const bytes = [
      ...Object.values(data).map((value) => Buffer.byteLength(value)),
      ...Object.values(binary).map(decodedBytes),
    ].reduce((sum, each) => sum + each, 0);
    return [
      ...configKeys(data, 'data'),
      ...Object.keys(data)
        .filter((key) => Object.hasOwn(binary, key))
        .map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...configKeys(binary, 'binaryData'),
      // The path of the whole object is an empty element, which upstream prints as brackets.
      ...(bytes > CONFIG_BYTES_MAX ? [tooLong('[]', '', CONFIG_BYTES_MAX)] : []),
    ];
  },
  validateUpdate: (next, previous) => immutableFields(next, previous, ['data', 'binaryData']),
};

/** The keys of a map of files. */
export function configKeys(map: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  return forEachItem(Object.keys(map), path, (key) =>
    invalidForEach(configKeyProblems(key), key, `${path}[${key}]`),
  );
}

/** The decoded length of a base64 text in bytes; null counts as empty. */
export function decodedBytes(base64: Base64 | null): number {
  return Buffer.byteLength(base64 ?? '', 'base64');
}

/** An object that says `immutable: true` keeps that and the named maps for ever, and has no empty one for none either. */
export function immutableFields<T extends { readonly immutable?: boolean }>(
  next: T,
  previous: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (previous.immutable !== true) return [];
  const changed = fields.filter(
    (field) =>
      !deepEqual(next[field] ?? {}, previous[field] ?? {}) ||
      (next[field] === undefined && getEmptiedFields(next, field).has(field)),
  );
  return [...(next.immutable === true ? [] : ['immutable']), ...changed].map((field) =>
    forbiddenField(field, 'field is immutable when `immutable` is set'),
  );
}

const configMapTable = tableOf<ConfigMap>([
  NAME,
  { name: 'Data', cell: ({ data, binaryData }) => countOf(data) + countOf(binaryData) },
  AGE,
]);

export const configMaps: Kind<ConfigMap> = { strategy: configMapRules, table: configMapTable };
