/**
 * Returns the offsets from UTC of a time zone of IANA's database, or of this process if it is undefined: a function of a time, both in
 * milliseconds. Throws RangeError for an unknown time zone.
 */
export function zoneOffsets(timeZone: string | undefined): (timeMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...(timeZone === undefined ? {} : { timeZone }),
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (timeMs) => {
    const parts = new Map(format.formatToParts(timeMs).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type) ?? 0);
    // 1 BC is the year 0.
    const year = parts.get('era')?.startsWith('B') === true ? 1 - part('year') : part('year');
    const wall = new Date(0);
    // Date.UTC would read the years below 100 as those of the 20th century.
    wall.setUTCFullYear(year, part('month') - 1, part('day'));
    wall.setUTCHours(part('hour'), part('minute'), part('second'));
    return wall.getTime() - Math.floor(timeMs / 1_000) * 1_000;
  };
}
