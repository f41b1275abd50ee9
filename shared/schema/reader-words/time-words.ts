import { goTimeQuote } from '../../errors/go-quote';
import { isDate } from '../../meta/time';
import { ownKeyMap } from '../../own-key-map';

/** The forms of times as Go spells them: each part by that of a certain date. */
export type TimeLayout = '2006-01-02T15:04:05Z07:00' | '2006-01-02T15:04:05.000000Z07:00';

/** What Go says of a text that is no time of this form; undefined for one that is. */
export function timeWords(text: string, layout: TimeLayout): string | undefined {
  const parsing = `parsing time ${goTimeQuote(text)}`;
  const values: number[] = [];
  let left = text;
  for (const part of PARTS.get(layout) ?? []) {
    const [taken = ''] = part.form.exec(left) ?? [];
    left = left.slice(taken === '' ? (part.lostChars?.(left) ?? 0) : taken.length);
    if (taken === '') {
      return `${parsing} as ${goTimeQuote(layout)}: cannot parse ${goTimeQuote(left)} as ${goTimeQuote(part.shown)}`;
    }
    if (part.range === undefined) continue;
    const value = Number(taken.slice(0, part.shown.length));
    if (value < part.range.min || value > part.range.max) return `${parsing}: ${part.range.of} out of range`;
    values.push(value);
  }
  if (left !== '') return `${parsing}: extra text: ${goTimeQuote(left)}`;
  const [year = 0, month = 0, day = 0] = values;
  return isDate(year, month, day) ? undefined : `${parsing}: day out of range`;
}

interface Part {
  readonly shown: string;
  readonly form: RegExp;
  readonly range?: { readonly of: string; readonly min: number; readonly max: number };
  /** How many characters Go has taken when it sees that they do not fit. */
  readonly lostChars?: (left: string) => number;
}

const YEAR: Part = {
  shown: '2006',
  form: /^\d{4}/,
  range: { of: 'year', min: 0, max: 9999 },
  lostChars: (left) => (/^\d.{3}/.test(left) ? 4 : 0),
};
const ZONE: Part = {
  shown: 'Z07:00',
  form: /^(?:Z|[+-]\d\d:\d\d)/,
  lostChars: (left) => (/^[^Z]..:../.test(left) ? 6 : 0),
};

function mark(shown: string): Part {
  return { shown, form: new RegExp(`^${shown}`) };
}

function twoDigits(shown: string, of: string, [min, max]: readonly [number, number]): Part {
  return { shown, form: /^\d\d/, range: { of, min, max } };
}

/** An hour may be of one digit. A fraction may follow seconds though the form names none. */
const TO_MINUTES: readonly Part[] = [
  YEAR,
  mark('-'),
  twoDigits('01', 'month', [1, 12]),
  mark('-'),
  // Which days there are depends on the month.
  twoDigits('02', 'day', [0, 99]),
  mark('T'),
  { ...twoDigits('15', 'hour', [0, 23]), form: /^\d\d?/ },
  mark(':'),
  twoDigits('04', 'minute', [0, 59]),
  mark(':'),
];
const SECONDS = twoDigits('05', 'second', [0, 59]);

const PARTS = ownKeyMap<readonly Part[]>({
  '2006-01-02T15:04:05Z07:00': [...TO_MINUTES, { ...SECONDS, form: /^\d\d(?:\.\d+)?/ }, ZONE],
  '2006-01-02T15:04:05.000000Z07:00': [...TO_MINUTES, SECONDS, { shown: '.000000', form: /^\.\d{6}/ }, ZONE],
});
