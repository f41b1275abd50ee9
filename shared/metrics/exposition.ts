import type { Bucketed } from './buckets';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Positions of histograms in the previous exposition and their text. Counts only grow, so an equal sum and count mean equal text. */
export type KeptSeries = WeakMap<Bucketed, Kept>;

/**
 * Writes the text form of Prometheus into one buffer. A busy server has a hundred thousand lines of histograms. Most of their series have
 * not changed since the last time, and are copied from there; the lines of others differ in their last bytes only: what they share is
 * copied, and no line is ever a string.
 */
export class Exposition {
  #bytes: Buffer;
  #length = 0;
  #before: Exposition | undefined;
  /** A pending copy of known text: from `begin` to `end` in `from`, to position `at`. */
  #run = { from: this as Exposition, begin: 0, end: 0, at: 0 };
  /** Referenced by series positions instead of the bytes. */
  readonly #mark: ExpositionMark = {};

  /** `before` is a closed exposition; `free` is one without readers, whose memory is reused. */
  constructor(before?: Exposition, free?: Exposition) {
    this.#before = before;
    const bytesMin = Math.max((before?.length ?? 0) + SPARE_BYTES, BYTES_MIN);
    const given = free === undefined ? undefined : free.#bytes;
    this.#bytes = given !== undefined && given.length >= bytesMin ? given : Buffer.allocUnsafe(bytesMin);
  }

  get length(): number {
    return this.#length;
  }

  /** The two lines above the samples of a metric. */
  head(name: string, type: MetricType, help: string): void {
    this.text(
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`,
    );
  }

  /** Writes one line. `labels` are those of {@link labelText}. */
  sample(name: string, labels: string, value: number): void {
    this.text(labels === '' ? `${name} ` : `${name}{${labels}} `);
    this.#number(value);
    this.#byte(LINE_FEED);
  }

  /** All lines of one series of a histogram. `kept` is of this histogram, and the same each time. */
  histogram(name: string, labels: string, value: Bucketed, kept: KeptSeries): void {
    const { sum } = value;
    const total = totalOf(value);
    const begin = this.#length;
    const known = kept.get(value);
    const isSame = known?.labels === labels && known.total === total && known.sum === sum;
    if (isSame && this.#before !== undefined && known.mark === this.#before.#mark) {
      this.#copy(this.#before, known.begin, known.end);
    } else this.#buckets(name, labels, value);
    const end = this.#length;
    if (known === undefined) kept.set(value, { mark: this.#mark, labels, total, sum, begin, end });
    else Object.assign(known, { mark: this.#mark, labels, total, sum, begin, end });
  }

  #buckets(name: string, labels: string, { bounds, counts, sum }: Bucketed): void {
    const begin = this.#length;
    this.text(`${name}_bucket{${labels === '' ? '' : `${labels},`}le="`);
    const end = this.#length;
    const bucketTexts = boundTexts(bounds);
    this.#reserve(bucketTexts.length * (end - begin + BUCKET_BYTES_MAX));
    const bytes = this.#bytes;
    let at = end;
    let total = 0;
    for (let bucket = 0; bucket < bucketTexts.length; bucket += 1) {
      if (bucket > 0) {
        bytes.copyWithin(at, begin, end);
        at += end - begin;
      }
      total += counts[bucket] ?? 0;
      at = writeAscii(bytes, at, bucketTexts[bucket] ?? '');
      at = writeInteger(bytes, at, total);
      bytes[at] = LINE_FEED;
      at += 1;
    }
    this.#length = at;
    this.sample(`${name}_sum`, labels, sum);
    this.sample(`${name}_count`, labels, total);
  }

  text(text: string): void {
    this.#reserve(text.length * UTF8_BYTES_MAX);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Nothing is written after it. */
  close(): void {
    this.#copyRun();
    this.#before = undefined;
  }

  /** Returns the written bytes. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Neighbours that stay neighbours are copied in one go. */
  #copy(from: Exposition, begin: number, end: number): void {
    this.#reserve(end - begin);
    const run = this.#run;
    const isNext = run.from === from && run.end === begin && run.at + (run.end - run.begin) === this.#length;
    if (isNext && end - run.begin <= RUN_BYTES_MAX) run.end = end;
    else {
      this.#copyRun();
      this.#run = { from, begin, end, at: this.#length };
    }
    this.#length += end - begin;
  }

  #copyRun(): void {
    const { from, begin, end, at } = this.#run;
    from.#bytes.copy(this.#bytes, at, begin, end);
    this.#run = { from: this, begin: 0, end: 0, at: 0 };
  }

  #number(value: number): void {
    const isSmall = Number.isInteger(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
    this.#reserve(BUCKET_BYTES_MAX);
    this.#length = isSmall
      ? writeInteger(this.#bytes, this.#length, value)
      : writeAscii(this.#bytes, this.#length, numberText(value));
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

type ExpositionMark = object;

/** The position of one series: `begin` to `end` in the exposition of the mark. */
interface Kept {
  mark: ExpositionMark;
  labels: string;
  total: number;
  sum: number;
  begin: number;
  end: number;
}

function totalOf({ counts }: Bucketed): number {
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) total += counts[bucket] ?? 0;
  return total;
}

/** Returns labels as between the braces, in the order of `names`; a missing value is empty. */
export function labelText(names: readonly string[], values: Readonly<Record<string, string>>): string {
  return names.map((name) => `${name}="${escaped(values[name] ?? '')}"`).join(',');
}

const LINE_FEED = 0x0a;
const ZERO = 0x30;
const UTF8_BYTES_MAX = 3;
/** Size of a bound with its count and punctuation, for any number. */
const BUCKET_BYTES_MAX = 64;
const BYTES_MIN = 64 * 1_024;
/** Copied in a fraction of a millisecond. */
const RUN_BYTES_MAX = 256 * 1_024;
/** Growth until the next scrape for which memory is reserved. */
const SPARE_BYTES = 128 * 1_024;
/** Written as exponents from here upwards, and below there. */
const LARGE = 1e6;
const SMALL = 1e-4;

/** Cheaper than a call into the runtime, for so few bytes. Returns where it ends. */
function writeAscii(bytes: Buffer, begin: number, text: string): number {
  for (let at = 0; at < text.length; at += 1) bytes[begin + at] = text.charCodeAt(at);
  return begin + text.length;
}

/** Digits of an integer that is not negative. Returns where they end. */
function writeInteger(bytes: Buffer, begin: number, value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  let rest = value;
  for (let at = begin + digits - 1; at >= begin; at -= 1) {
    const next = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - next * 10);
    rest = next;
  }
  return begin + digits;
}

function escaped(text: string): string {
  return /["\\\n]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : text;
}

/** The ends of the lines of buckets, made once for each list of bounds: there is one in the code for many histograms. */
const texts = new WeakMap<readonly number[], readonly string[]>();

function boundTexts(bounds: readonly number[]): readonly string[] {
  const known = texts.get(bounds);
  if (known !== undefined) return known;
  const made = [...bounds.map(numberText), '+Inf'].map((bound) => `${bound}"} `);
  texts.set(bounds, made);
  return made;
}

/** As Go writes it, because the bound is a label, and queries name it: `1e+06`, `2.5e-05`. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  if (size === 0 || (size >= SMALL && size < LARGE)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
