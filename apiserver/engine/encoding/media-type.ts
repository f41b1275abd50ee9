import { listElements } from '../request/header-values';

/** One element of an Accept header, or a Content-Type. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Without `q`. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Content types beyond are malformed. */
const CONTENT_TYPE_BYTES_MAX = 8 * 1_024;

/**
 * Parses an Accept header as upstream does: sorted by quality, then specific types before wildcards, then the order
 * of the header. Case matters, quotes are part of a value, and the last of repeated parameters is used. Elements with
 * quality 0 are kept, at the end. Malformed elements and parameters are ignored, and so is what {@link listElements}
 * ignores.
 */
export function parseAccept(header: string): readonly MediaRange[] {
  const ranges: MediaRange[] = [];
  for (const element of listElements(header)) {
    const range = acceptedRange(element);
    if (range !== undefined) ranges.push(range);
  }
  return ranges.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}

function acceptedRange(element: string): MediaRange | undefined {
  const [essence = '', ...pairs] = element.split(';');
  const [type = '', subtype = '', more = ''] = essence.split('/', 3).map((part) => part.trim());
  if (more !== '' || (subtype === '' && type !== '*')) return undefined;
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const pair of pairs) {
    const [name = '', value = '', rest = ''] = pair.split('=', 3);
    if (value === '' || rest !== '') continue;
    if (name.trim() === 'q') quality = qualityOf(value);
    else parameters.set(name.trim(), value.trim());
  }
  return { type, subtype: subtype === '' ? '*' : subtype, parameters, quality };
}

/** Parses a quality; an invalid one is 0. */
function qualityOf(value: string): number {
  const quality = NUMBER.test(value) ? Number(value) : 0;
  return Number.isFinite(quality) ? quality : 0;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses a Content-Type (RFC 2045, 5.1). Everything but values is lower-cased, and values are unquoted. Returns
 * undefined if it is malformed, repeats a parameter or is longer than 8 KiB.
 */
export function parseMediaType(text: string): MediaRange | undefined {
  if (text.length > CONTENT_TYPE_BYTES_MAX) return undefined;
  const [written] = text.split(';', 1);
  const [, type, subtype] = ESSENCE.exec((written ?? '').toLowerCase()) ?? [];
  if (type === undefined || subtype === undefined) return undefined;
  const parameters = parametersOf(text.slice(written?.length ?? 0));
  return parameters && { type, subtype, parameters, quality: 1 };
}

const TOKEN = "[!#$%&'*+\\-.^_`|{}~0-9A-Za-z]+";
const ESSENCE = new RegExp(`^\\s*(${TOKEN})/(${TOKEN})\\s*$`);
const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})\\s*=\\s*(?:(${TOKEN})|"((?:[^"\\\\\\r\\n]|\\\\.)*)")`, 'y');

/** A trailing semicolon is allowed. */
const END: ReadonlySet<string> = new Set(['', ';']);

function parametersOf(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  const pattern = new RegExp(PARAMETER);
  for (let at = 0; !END.has(text.slice(at).trim()); at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return undefined;
    const [, name = '', token, quoted = ''] = found;
    const value = token ?? quoted.replace(/\\(.)/g, '$1');
    const key = name.toLowerCase();
    if (parameters.has(key)) return undefined;
    parameters.set(key, value);
  }
  return parameters;
}
