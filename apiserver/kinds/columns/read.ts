import type { ApiObject } from '../../../shared/object/object';
import { Age } from './age';

/** Reading of decoded JSON by path. Nothing here throws: a Table is shown also for an object that lacks what validation demands. */

/** The value at the path, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[name];
  }
  return current ?? undefined;
}

/** The string at the path; empty when there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The string at the path, or `absent` when there is none or it is empty. */
export function textOr(absent: string, value: unknown, ...path: readonly string[]): string {
  const found = textAt(value, ...path);
  return found === '' ? absent : found;
}

/** The number at the path; zero when there is none. Integers beyond 2^53 are bigints. */
export function numberAt(value: unknown, ...path: readonly string[]): number | bigint {
  const found = at(value, ...path);
  return typeof found === 'number' || typeof found === 'bigint' ? found : 0;
}

/** The boolean at the path, or `absent`. */
export function flagAt(absent: boolean, value: unknown, ...path: readonly string[]): boolean {
  const found = at(value, ...path);
  return typeof found === 'boolean' ? found : absent;
}

/** The list at the path; empty when there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The strings of the list at the path. */
export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((each) => typeof each === 'string');
}

/** The map at the path; empty when there is none. */
export function mapAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const found = at(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found)
    ? (found as Readonly<Record<string, unknown>>)
    : {};
}

/** A string, number or quantity at the path as text, or `absent`. */
export function scalarOr(absent: string, value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'bigint'
    ? String(found)
    : absent;
}

export function nameOf(object: ApiObject): string {
  return object.metadata.name ?? '';
}

export function ageOf(object: ApiObject): Age {
  return new Age(object.metadata.creationTimestamp);
}

/** The phase at `status.phase`, or that the object is on its way out. */
export function phaseOf(object: ApiObject): string {
  return at(object, 'metadata', 'deletionTimestamp') === undefined
    ? textAt(object, 'status', 'phase')
    : 'Terminating';
}
