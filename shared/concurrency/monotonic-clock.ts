import type { Clock } from './clock';

/** For durations: never jumps when the machine's wall clock is set. Its zero means nothing; compare only its own readings. */
export const monotonicClock: Clock = { now: () => performance.now() };
