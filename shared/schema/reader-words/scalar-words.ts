import { ownKeyMap } from '../../own-key-map';
import type { TimeLayout } from './time-words';
import { timeWords } from './time-words';

/** What Go says of base64 that is none: at which character it went wrong. Undefined where nothing is. */
export function base64Words(text: string): string | undefined {
  const at = base64Problem(text);
  return at === undefined ? undefined : `illegal base64 data at input byte ${String(at)}`;
}

function base64Problem(text: string): number | undefined {
  const wrong = /[^A-Za-z0-9+/\r\n]/.exec(text)?.index ?? text.length;
  const before = text.slice(0, wrong).replace(LINE_ENDS, '').length % 4;
  if (wrong === text.length) return before === 0 ? undefined : text.length - before;
  if (text[wrong] !== '=' || before < 2) return wrong;
  const padding = before === 2 ? /^=[\r\n]*=[\r\n]*/ : /^=[\r\n]*/;
  const [taken] = padding.exec(text.slice(wrong)) ?? [];
  if (taken !== undefined) return wrong + taken.length === text.length ? undefined : wrong + taken.length;
  const second = wrong + 1 + (/^[\r\n]*/.exec(text.slice(wrong + 1))?.[0].length ?? 0);
  return second === text.length ? second : second - 1;
}

const LINE_ENDS = /[\r\n]/g;

/** What upstream says of a text that is no quantity. */
export function noQuantityWords(text: string): string {
  const unit = text.replace(/^[+-]?\d*(?:\.\d*)?/, '');
  return text !== '' && /^[eEinumkKMGTP]*[+-]?\d*$/.test(unit)
    ? "unable to parse quantity's suffix"
    : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
}

/** What Go says of a time in JSON that is none. */
export function timeJsonWords(json: string, layout: TimeLayout): string | undefined {
  if (json === 'null') return undefined;
  return json.startsWith('"')
    ? timeWords(String(JSON.parse(json)), layout)
    : `json: cannot unmarshal ${goJsonType(json)} into Go value of type string`;
}

/** What upstream says of JSON where a whole number or a text should be. */
export function intOrStringJsonWords(json: string): string | undefined {
  if (json === 'null' || json.startsWith('"')) return undefined;
  const type = goJsonType(json);
  const isInteger = /^-?\d+$/.test(json) && BigInt.asIntN(32, BigInt(json)) === BigInt(json);
  if (isInteger) return undefined;
  const told = type === 'number' ? `number ${json}` : type;
  return `json: cannot unmarshal ${told} into Go value of type int32`;
}

/** How Go calls what a value in JSON is, by its first character. */
export function goJsonType(json: string): string {
  return TYPES.get(json.slice(0, 1)) ?? 'number';
}

/** The same of a value that is parsed, and not null. */
export function goTypeOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'boolean' ? 'bool' : type === 'bigint' ? 'number' : type;
}

const TYPES = ownKeyMap<string>({
  '{': 'object',
  '[': 'array',
  '"': 'string',
  t: 'bool',
  f: 'bool',
});
