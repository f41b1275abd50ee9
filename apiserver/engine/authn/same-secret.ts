import { timingSafeEqual } from 'node:crypto';

/** Takes as long for a secret that is nearly right as for any other of its length. */
export function isSameSecret(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
