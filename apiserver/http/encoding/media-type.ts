import type { ContentType } from 'content-type';
import { parse } from 'content-type';

/** One element of an Accept header, or a Content-Type. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Lower-cased names; values without their quotes. `q` is taken out. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Between 0 and 1. */
  readonly quality: number;
}

/** How much of a header is read. Browsers send some hundred bytes in some ten elements, clients of the API less. */
const HEADER_BYTES_MAX = 8 * 1_024;
const ACCEPT_ELEMENTS_MAX = 100;

/**
 * Parses an Accept header (RFC 9110, 12.5.1), the best quality first, of equal quality what names a
 * type before what takes any, ties in the header's order. Malformed elements are left out, and so is
 * what comes after the first hundred elements, or does not end within 8 KiB.
 */
export function parseAccept(header: string): readonly MediaRange[] {
  const read = header.length > HEADER_BYTES_MAX ? header.slice(0, lastEnd(header)) : header;
  const ranges: MediaRange[] = [];
  for (let start = 0, elements = 0; start < read.length && elements < ACCEPT_ELEMENTS_MAX; elements += 1) {
    const element = parse(read, { comma: true, start });
    const range = rangeOf(element);
    if (range !== undefined && range.quality > 0) ranges.push(range);
    start = element.index + 1;
  }
  return ranges.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}

function lastEnd(header: string): number {
  return Math.max(0, header.lastIndexOf(',', HEADER_BYTES_MAX));
}

/** Parses one media type with parameters; undefined when it is malformed, or longer than 8 KiB. */
export function parseMediaType(text: string): MediaRange | undefined {
  return text.length > HEADER_BYTES_MAX ? undefined : rangeOf(parse(text));
}

function rangeOf(parsed: ContentType): MediaRange | undefined {
  const [type = '', subtype = '', more] = parsed.type.split('/');
  if (type === '' || subtype === '' || more !== undefined) return undefined;
  const parameters = new Map(Object.entries(parsed.parameters));
  const quality = clampQuality(parameters.get('q') ?? '1');
  parameters.delete('q');
  return { type, subtype, parameters, quality };
}

function clampQuality(value: string): number {
  const quality = Number(value);
  return Number.isNaN(quality) ? 1 : Math.min(Math.max(quality, 0), 1);
}
