/** Durations as Go's `time.ParseDuration` reads them: a sign, then decimal numbers each with a unit. `0` needs none. */

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  // The sign for micro, and the Greek letter.
  ['\u00b5s', 1e-3],
  ['\u03bcs', 1e-3],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

// Clients choose the text, so there is only one way to read a run of digits: two would be tried in all combinations.
const WHOLE = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|[\u00b5\u03bc]s|ms|s|m|h)/g;

/** Milliseconds (`1m30s` is 90,000), or undefined when the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let ms = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(PART)) {
    ms += Number(amount) * (MS_PER_UNIT.get(unit) ?? Number.NaN);
  }
  if (!Number.isFinite(ms)) return undefined;
  return text.startsWith('-') ? -ms : ms;
}

/** Reports whether Go's durations have this unit. */
export function isDurationUnit(unit: string): boolean {
  return MS_PER_UNIT.has(unit);
}
