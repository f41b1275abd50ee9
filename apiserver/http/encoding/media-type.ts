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

/** Parses an Accept header (RFC 9110, 12.5.1), the best quality first, ties in the header's order. Malformed elements are left out. */
export function parseAccept(header: string): readonly MediaRange[] {
  const ranges: MediaRange[] = [];
  for (let start = 0; start < header.length;) {
    const element = parse(header, { comma: true, start });
    const range = rangeOf(element);
    if (range !== undefined && range.quality > 0) ranges.push(range);
    start = element.index + 1;
  }
  return ranges.sort((a, b) => b.quality - a.quality);
}

/** Parses one media type with parameters; undefined when it is malformed. */
export function parseMediaType(text: string): MediaRange | undefined {
  return rangeOf(parse(text));
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
