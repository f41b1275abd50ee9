import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { isJsonObject } from '../object/clone';
import { changeList, changeObject, without } from '../object/json';
import type { ApiObject } from '../object/object';

/**
 * A field with another path in the hub version. Paths are dotted; `[]` after a member means each element of
 * its list, and both paths are equal up to there.
 */
export type Move = readonly [version: string, hub: string];

/** Returns the conversion that only moves fields. */
export function movesConversion(moves: readonly Move[]): Conversion {
  const steps = moves.map(([version, hub]) => ({ version: parse(version), hub: parse(hub) }));
  return {
    toHub: (object) =>
      steps.reduce<ReadonlyJson>((moved, { version, hub }) => move(moved, version, hub), object) as ApiObject,
    fromHub: (object) =>
      steps.reduce<ReadonlyJson>((moved, { version, hub }) => move(moved, hub, version), object) as ApiObject,
  };
}

type Path = readonly string[];

function parse(path: string): Path {
  return path.split('.');
}

function move(object: ReadonlyJson, from: Path, to: Path): ReadonlyJson {
  const [member = '', ...rest] = from;
  if (member.endsWith('[]')) {
    return changeList(object, member.slice(0, -2), (each) => move(each, rest, to.slice(1)));
  }
  if (rest.length > 0 && to[0] === member && to.length > 1) {
    return changeObject(object, member, (each) => move(each, rest, to.slice(1)));
  }
  const value = valueAt(object, from);
  return value === undefined ? object : put(remove(object, from), to, value);
}

function valueAt(object: ReadonlyJson, [member = '', ...rest]: Path): unknown {
  const value = object[member];
  if (rest.length === 0) return value;
  return isJsonObject(value) ? valueAt(value, rest) : undefined;
}

/** Removes a field, and containers that become empty. */
function remove(object: ReadonlyJson, [member = '', ...rest]: Path): ReadonlyJson {
  if (rest.length === 0) return without(object, member);
  const inner = object[member];
  if (!isJsonObject(inner)) return object;
  const left = remove(inner, rest);
  return Object.keys(left).length === 0 ? without(object, member) : { ...object, [member]: left };
}

function put(object: ReadonlyJson, [member = '', ...rest]: Path, value: unknown): ReadonlyJson {
  if (rest.length === 0) return { ...object, [member]: value };
  const inner = object[member];
  return { ...object, [member]: put(isJsonObject(inner) ? inner : {}, rest, value) };
}
