import { timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time for equal lengths. */
export function isSameSecret(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
