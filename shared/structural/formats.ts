import { isIP, isIPv4, isIPv6 } from 'node:net';
import { ownKeyMap } from '../own-key-map';

/**
 * String formats that upstream validates, with the rules of its libraries (kube-openapi's strfmt). Other formats
 * are ignored. The names of Kubernetes are known since v1.34.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', (text) => /^[0-9a-f]{24}$/i.test(text)],
  ['uri', isRequestUri],
  ['email', isMailAddress],
  ['hostname', isHostname],
  ['ipv4', (text) => isAddress(text) && text.includes('.')],
  ['ipv6', (text) => isAddress(text) && text.includes(':')],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (text) => /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)],
  ['uuid3', (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  [
    'uuid4',
    (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  ],
  [
    'uuid5',
    (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  ],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= LABEL_BYTES_MAX && SHORT_NAME.test(text)],
  [
    'k8slongname',
    (text) => text.length <= NAME_CHARS_MAX && text.split('.').every((part) => SHORT_NAME.test(part)),
  ],
]);

const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/**
 * Returns the format in the schema's spelling if it is known for values of that type (empty: of any type),
 * else empty. Dashes do not count: `date-time` is `datetime`. In a default, formats without a type need not be
 * known.
 */
export function normalFormat(format: string, type: string, isDefault = false): string {
  if (type === '' && isDefault) return format;
  if (type === '' || type === 'string') return FORMATS.has(withoutDashes(format)) ? format : '';
  return NUMBER_FORMATS.get(type)?.includes(format) === true ? format : '';
}

/** Longest text that is compared with a format. Some rules are quadratic in the length. */
const FORMAT_CHARS_MAX = 1_024;
const LONG_FORMATS: ReadonlySet<string> = new Set(['uri', 'byte', 'password']);

/** True for a text of that format, and for any text if the format is unknown. */
export function hasFormat(text: string, format: string): boolean {
  const name = withoutDashes(format);
  const check = FORMATS.get(name);
  if (check === undefined) return true;
  return (text.length <= FORMAT_CHARS_MAX || LONG_FORMATS.has(name)) && check(text);
}

/** True for formats that constrain strings. */
export function isTextFormat(format: string): boolean {
  return FORMATS.has(withoutDashes(format));
}

function withoutDashes(format: string): string {
  return format.includes('-') ? format.replaceAll('-', '') : format;
}

const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const NAME_CHARS_MAX = 253;
const HOST_BYTES_MAX = 255;
const LABEL_BYTES_MAX = 63;

/**
 * Accepts labels of letters, digits, symbols of any script and inner dashes. The last of several labels has at
 * least two characters.
 */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > HOST_BYTES_MAX) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > LABEL_BYTES_MAX)) return false;
  const last = labels.pop() ?? '';
  if (labels.length === 0) return /^[a-z\d\p{S}\p{L}](?:-?[a-z\d\p{S}\p{L}]{0,62})?$/iu.test(last);
  return (
    labels.every((label) =>
      /^[a-z\d\p{S}\p{L}](?:[a-z\d\-\p{S}\p{L}]{0,61}[a-z\d\p{S}\p{L}])?$/iu.test(label),
    ) && /^[a-z\d\p{S}\p{L}](?:-?[a-z\d\p{S}\p{L}]){1,62}$/iu.test(last)
  );
}

/** Parts of an IPv4 address may begin with zeros, and no address may have a zone. */
function isAddress(text: string): boolean {
  if (text.includes('%')) return false;
  return isIP(text) !== 0 || isIPv4(text.replace(/^0+(?=\d)/, '').replaceAll(/\.0+(?=\d)/g, '.'));
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits) || !isAddress(address)) return false;
  return Number(bits) <= (isIPv6(address) ? 128 : 32);
}

/** Accepts 6, 8 or 20 bytes, separated by colons or dashes, or by a dot after every two bytes. */
function isMac(text: string): boolean {
  return [6, 8, 20].some((bytes) => {
    const rest = String(bytes - 1);
    return [
      `^[0-9a-f]{2}(?::[0-9a-f]{2}){${rest}}$`,
      `^[0-9a-f]{2}(?:-[0-9a-f]{2}){${rest}}$`,
      `^[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${String(bytes / 2 - 1)}}$`,
    ].some((pattern) => new RegExp(pattern, 'i').test(text));
  });
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index += 1) sum += (index + 1) * Number(digits[index]);
  return (sum + 10 * (digits.endsWith('X') ? 10 : Number(digits[9]))) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index += 1) sum += (index % 2 === 0 ? 1 : 3) * Number(digits[index]);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
}

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D+/g, '');
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits.at(-1 - index));
    const doubled = digit * 2;
    if (index % 2 === 0) sum += digit;
    else sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)?.slice(1);
  return parts?.every((part) => /^(?:0|[1-9]\d*)$/.test(part) && Number(part) <= 255) === true;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0));
}

/** RFC 3339. As upstream, any character may separate the seconds from their fraction. */
function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  if (!isDate(date)) return false;
  const [, hour, minute, second] =
    /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/.exec(time)?.map(Number) ?? [];
  return (
    hour !== undefined &&
    minute !== undefined &&
    second !== undefined &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59
  );
}

/** An atom of RFC 5322: letters, digits and these symbols, or any character beyond ASCII. */
const ATOM = String.raw`[A-Za-z0-9!#$%&'*+/=?^_{|}~\u0060\u0080-\u{10FFFF}-]+`;
const QUOTED = String.raw`"(?:[^"\\\r\n\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\\[\x20-\x7e\t])*"`;
const ADDRESS = new RegExp(
  String.raw`^\s*(?:${ATOM}(?:\.${ATOM})*|${QUOTED})@${ATOM}(?:\.${ATOM})*\s*$`,
  'u',
);
const WORD = new RegExp(String.raw`\s*(?:${ATOM}(?:\.+${ATOM})*\.?|${QUOTED})\s*`, 'uy');

/** Longest accepted text. RFC 5321 allows 254 bytes for the address alone. */
const ADDRESS_CHARS_MAX = 1_024;

/** True for one address that Go's net/mail parses: `a@b`, `"a b"@c`, or with a display name, `A B <a@b>`. */
function isMailAddress(text: string): boolean {
  if (text.length > ADDRESS_CHARS_MAX) return false;
  const open = text.lastIndexOf('<');
  if (open === -1 || !text.trimEnd().endsWith('>')) return ADDRESS.test(text);
  const inside = text.trimEnd().slice(open + 1, -1);
  return isPhrase(text.slice(0, open)) && ADDRESS.test(inside) && inside.trim() === inside;
}

/** True for a sequence of words, which may be empty. */
function isPhrase(text: string): boolean {
  if (text.trim() === '') return true;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    if (!WORD.test(text)) return false;
  }
  return true;
}

/**
 * True for text that Go's `url.ParseRequestURI` parses: an absolute URI or an absolute path. Only the
 * authority is strict.
 */
function isRequestUri(text: string): boolean {
  if (text === '*') return true;
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(text)?.[0] ?? '';
  if (scheme === '' && text.startsWith(':')) return false;
  const rest = withoutQuery(text.slice(scheme.length));
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//') || rest.startsWith('///')) return hasGoodEscapes(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
  return isAuthority(authority) && hasGoodEscapes(slash === -1 ? '' : rest.slice(slash));
}

function withoutQuery(text: string): string {
  const mark = text.indexOf('?');
  return mark === -1 ? text : text.slice(0, mark);
}

function hasGoodEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !hasGoodEscapes(user)) return false;
  return isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  const [, address, port] = /^\[([^\]]*)\](.*)$/.exec(host) ?? [];
  if (host.startsWith('[')) {
    return address !== undefined && /^(?::\d*)?$/.test(port ?? '') && /^[0-9A-Za-z:.%~_-]*$/.test(address);
  }
  const colon = host.lastIndexOf(':');
  if (colon !== -1 && !/^\d*$/.test(host.slice(colon + 1))) return false;
  // Only characters beyond ASCII may be escaped in a host.
  return /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"\u0080-\u{10FFFF}]|%[89a-fA-F][0-9a-fA-F])*$/u.test(host);
}

/**
 * True for a duration as Go's `time.ParseDuration` reads it (`1h30m`, `-1.5s`, `0`), or with a number and the
 * name of a unit anywhere in it (`3 days`), as in go-openapi.
 */
function isDuration(text: string): boolean {
  return isGoDuration(text) || hasNamedUnit(text);
}

const NANOSECONDS = ownKeyMap<number>({
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
});
const NANOSECONDS_MAX = 2 ** 63;

function isGoDuration(text: string): boolean {
  const unsigned = text.replace(/^[-+]/, '');
  if (unsigned === '0') return true;
  if (unsigned === '') return false;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < unsigned.length) {
    const [, amount = '', unit = ''] = PART.exec(unsigned) ?? [];
    if (unit === '') return false;
    total += Number(amount) * (NANOSECONDS.get(unit) ?? 0);
  }
  return total < NANOSECONDS_MAX;
}

/** Sticky, so that a long row of digits without a unit is read once. */
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|[uµμ]s|ms|[smh])/y;

/** Exact names of units. The second list holds prefixes of longer names. */
const UNITS: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const LONG_UNITS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];
const INTEGER_DIGITS_MAX = 18;
/** Matches from the first digit of a row only. Otherwise the row would be read again from each digit. */
const NAMED_UNIT = /(?<!\d)(\d+)\s*([A-Za-zµ]+)/g;

function hasNamedUnit(text: string): boolean {
  let isFound = false;
  for (const [, amount = '', name = ''] of text.matchAll(NAMED_UNIT)) {
    if (amount.length > INTEGER_DIGITS_MAX) return false;
    const unit = name.toLowerCase();
    isFound ||= UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
  }
  return isFound;
}
