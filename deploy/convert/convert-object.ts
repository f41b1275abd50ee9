import { RESOURCES } from '../../shared/api/resources';
import type { ResourceRow } from '../../shared/api/resources';
import { getConversion } from '../../shared/conversion/conversions';
import { getDefaults } from '../../shared/defaults/defaults';
import type { ApiObject, GroupVersion } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { decodeObject } from '../../shared/schema/decode';
import { kindType } from '../../shared/schema/types';
import type { Change } from './changes';
import { changesBetween } from './changes';

/** The row of a kind by what a manifest says; undefined when v1.21 does not have it. */
export function rowOf(apiVersion: string, kind: string): ResourceRow | undefined {
  return RESOURCES.find((row) => row.kind === kind && apiVersionOf(row) === apiVersion);
}

/**
 * Where an object of a row goes: to `wanted` if its kind has that version, else, and without a wish, to the version in which clients of
 * today should write it: the first stable one of the group where the kind is at home, or the newest if none is stable.
 */
export function targetOf(row: ResourceRow, wanted: GroupVersion | undefined): ResourceRow {
  const versions = RESOURCES.filter(
    (each) =>
      each.kind === row.kind &&
      each.resource === row.resource &&
      apiVersionOf(each.hub) === apiVersionOf(row.hub),
  );
  const exact = versions.find(
    (each) => wanted !== undefined && each.group === wanted.group && each.version === wanted.version,
  );
  const stable = versions.find((each) => /^v\d+$/u.test(each.version) && each.deprecated === undefined);
  return exact ?? stable ?? versions.find((each) => each.version === row.hub.version) ?? row;
}

/**
 * What has to change in a manifest of the one row so that it says the same in the other. Values that were left out and mean something else
 * there are written down. Throws a DecodeError for a manifest that does not fit its kind.
 */
export function conversionChanges(manifest: unknown, from: ResourceRow, to: ResourceRow): readonly Change[] {
  const before = withDefaults(from, decodeObject(kindType(from.schema), manifest).object);
  return changesBetween(before, withDefaults(to, converted(before, from, to)));
}

/** What a converted manifest still lacks: where the defaults of its version are not what it meant before. */
export function missingDefaults(
  { manifest, original }: { readonly manifest: unknown; readonly original: unknown },
  from: ResourceRow,
  to: ResourceRow,
): readonly Change[] {
  const before = withDefaults(from, decodeObject(kindType(from.schema), original).object);
  const meant = withDefaults(to, converted(before, from, to));
  const said = withDefaults(to, decodeObject(kindType(to.schema), manifest).object);
  return changesBetween(said, meant);
}

function withDefaults(row: ResourceRow, object: ApiObject): ApiObject {
  return getDefaults(row.schema)?.(object) ?? object;
}

function converted(object: ApiObject, from: ResourceRow, to: ResourceRow): ApiObject {
  const hub = getConversion(from)?.toHub(object) ?? object;
  const result = getConversion(to)?.fromHub(hub) ?? hub;
  return decodeObject(kindType(to.schema), { ...result, kind: to.kind, apiVersion: apiVersionOf(to) }).object;
}
