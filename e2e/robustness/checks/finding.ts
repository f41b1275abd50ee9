/** The names of the checks. The function of a check documents its guarantee; `README.md` has the list. */
export const CHECKS = [
  'linearizable',
  'applied once',
  'acknowledged writes are stored',
  'no lost update',
  'fresh reads',
  'not older than',
  'list is one snapshot',
  'watch complete',
  'watch in order',
  'watch unique',
  'watch true to the store',
  'bookmarks true',
  'informers equal the store',
  'one acting leader',
  'quota kept',
  'addresses given once',
  'store replaced',
  'replicas find no difference',
  'controllers go on',
  'everything comes back',
] as const;
export type Check = (typeof CHECKS)[number];

/** One violation. */
export interface Finding {
  readonly check: Check;
  /** One sentence: what the client received, and what the store contains. */
  readonly text: string;
}
