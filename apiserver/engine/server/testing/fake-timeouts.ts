/** For `jest.useFakeTimers({ doNotFake })`, where only what waits by `setTimeout` is to go by the clock of the test. */
export const ALL_BUT_TIMEOUTS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;
