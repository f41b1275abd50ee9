import type { Conversion } from './conversion';
import type { Json } from '../object/json';
import { changeList, changeObject, isJson, without } from '../object/json';
import type { ApiObject } from '../object/object';

/**
 * A field that stands elsewhere in the hub version. Paths are dotted; `[]` behind a member means each element of its list, and both
 * paths are alike up to there.
 */
export type Move = readonly [version: string, hub: string];

/** The conversion in which fields only move. */
export function movesConversion(moves: readonly Move[]): Conversion {
  const steps = moves.map(([version, hub]) => ({ version: parse(version), hub: parse(hub) }));
  return {
    toHub: (object) =>
      steps.reduce<Json>((moved, { version, hub }) => move(moved, version, hub), object) as ApiObject,
    fromHub: (object) =>
      steps.reduce<Json>((moved, { version, hub }) => move(moved, hub, version), object) as ApiObject,
  };
}

type Path = readonly string[];

function parse(path: string): Path {
  return path.split('.');
}

function move(object: Json, from: Path, to: Path): Json {
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

function valueAt(object: Json, [member = '', ...rest]: Path): unknown {
  const value = object[member];
  if (rest.length === 0) return value;
  return isJson(value) ? valueAt(value, rest) : undefined;
}

/** Containers that are empty afterwards go as well: they existed for this field. */
function remove(object: Json, [member = '', ...rest]: Path): Json {
  if (rest.length === 0) return without(object, member);
  const inner = object[member];
  if (!isJson(inner)) return object;
  const left = remove(inner, rest);
  return Object.keys(left).length === 0 ? without(object, member) : { ...object, [member]: left };
}

function put(object: Json, [member = '', ...rest]: Path, value: unknown): Json {
  if (rest.length === 0) return { ...object, [member]: value };
  const inner = object[member];
  return { ...object, [member]: put(isJson(inner) ? inner : {}, rest, value) };
}
