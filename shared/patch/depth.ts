/**
 * Deepest nesting of a patch and of its result: far above any API type, far below the limit of the call stack.
 */
export const PATCH_DEPTH_MAX = 1000;

/** True when objects and lists nest deeper than `levels`. It recurses no further than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeeper(value[index], levels - 1)) return true;
    return false;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key in object) if (isDeeper(object[key], levels - 1)) return true;
  return false;
}
