/** The longest delay that a timer of Node holds, in milliseconds: almost 25 days. A longer one would be over at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
