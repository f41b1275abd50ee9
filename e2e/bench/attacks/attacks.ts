import type { Attack } from './attack';
import { CHAINS } from './chains';
import { FLOODS } from './floods';
import { HTTP2 } from './http2';
import { LARGE_BODIES } from './large-bodies';
import { PIPELINING } from './pipelining';
import { SHARED_BOUNDS } from './shared-bounds';
import { WEBHOOKS } from './webhooks';
import { WORDS_OF_OBJECTS } from './words';

/** The findings of a security review as they were reproduced, and other hostile requests. */
export const ATTACKS: readonly Attack[] = [
  ...PIPELINING,
  ...LARGE_BODIES,
  ...CHAINS,
  ...WEBHOOKS,
  ...WORDS_OF_OBJECTS,
  ...FLOODS,
  ...HTTP2,
  ...SHARED_BOUNDS,
];
