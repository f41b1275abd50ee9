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
  return splitOutsideQuotes(header, ',')
    .map((element) => parseMediaType(element))
    .filter((range) => range !== undefined)
    .filter((range) => range.quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
}

/** Parses one media type with parameters; undefined when it is malformed. */
export function parseMediaType(text: string): MediaRange | undefined {
  const [essence = '', ...rest] = splitOutsideQuotes(text, ';');
  const [type = '', subtype = '', more] = essence.trim().toLowerCase().split('/');
  if (type === '' || subtype === '' || more !== undefined) return undefined;
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const parameter of rest) {
    const at = parameter.indexOf('=');
    if (at < 0) continue;
    const name = parameter.slice(0, at).trim().toLowerCase();
    const value = parameter
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
    if (name === 'q') quality = clampQuality(value);
    else parameters.set(name, value);
  }
  return { type, subtype, parameters, quality };
}

function clampQuality(value: string): number {
  const quality = Number(value);
  return Number.isNaN(quality) ? 1 : Math.min(Math.max(quality, 0), 1);
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] !== separator || quoted) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  parts.push(text.slice(start));
  return parts;
}
