import { setOwn } from '../../../../shared/object/clone';

/** Where a value stands: by its key in what stands above it. */
export interface Place {
  readonly above: Place | undefined;
  readonly key: string | number;
  readonly value: unknown;
}

/** Places beyond these are not looked at. */
const PLACES_MAX = 2_000;

/** The places of all values, that of the whole first. */
export function placesIn(root: unknown): readonly Place[] {
  const places: Place[] = [{ above: undefined, key: '', value: root }];
  for (let index = 0; index < places.length && places.length < PLACES_MAX; index += 1) {
    const above = places[index];
    const value = above?.value;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, each] of Object.entries(value)) {
      places.push({ above, key: Array.isArray(value) ? Number(key) : key, value: each });
    }
  }
  return places;
}

/** The place at the end of a path of keys; undefined where there is none. */
export function placeAt(root: unknown, path: readonly (string | number)[]): Place | undefined {
  let place: Place = { above: undefined, key: '', value: root };
  for (const key of path) {
    const holder = place.value;
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
    place = { above: place, key, value: (holder as Record<string | number, unknown>)[key] };
  }
  return place;
}

/** The value with another one, or none, in a place. */
export function replacedAt({ above, key }: Place, by: unknown): unknown {
  if (above === undefined) return by === undefined ? null : by;
  const holder = above.value;
  if (Array.isArray(holder)) {
    const list: readonly unknown[] = holder;
    return replacedAt(above, by === undefined ? list.toSpliced(Number(key), 1) : list.with(Number(key), by));
  }
  const entries = Object.entries(holder as object);
  const changed = entries.map(([name, each]) => [name, name === key ? by : each] as const);
  return replacedAt(above, fromEntries(changed.filter(([, each]) => each !== undefined)));
}

/** An own key `__proto__` stays one. */
export function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries) setOwn(object, key, value);
  return object;
}
