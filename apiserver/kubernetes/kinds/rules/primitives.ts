import { isIPv4, isIPv6 } from 'node:net';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  ERRORS_SHOWN_MAX,
  invalid,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import { integer, text, keysOf } from '../../../../shared/object/accessors';

/**
 * The small rules that many kinds share, with the words of v1.21's validation packages. A rule takes the value and its path and
 * answers with what is wrong; an empty list is good.
 */
export type Rule<Value = unknown> = (value: Value, path: string) => readonly FieldError[];

/** Rules of some fields of a message. */
export type FieldRules<Message> = { readonly [Name in keyof Message]?: Rule<Message[Name]> };

/** What is wrong with a text, in words: the form of the functions of `dns-names`. */
export type Problems = (value: string) => readonly string[];

/** One `Invalid` for each problem of the text. */
export function invalidForEach(problems: readonly string[], value: unknown, path: string): FieldError[] {
  return problems.map((problem) => invalid(path, value, problem));
}

/** One more than a refusal shows, so that it says that there are more. */
const LIST_ERRORS_MAX = ERRORS_SHOWN_MAX + 1;

/**
 * Runs the rule on every item of a list, or entry of a map, with the path of a list's item; where nearly all of very many are wrong, not
 * on those at the end.
 */
export function forEachItem<Item>(
  items: readonly Item[],
  path: string,
  rule: (item: Item, path: string, index: number) => readonly FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    for (const error of rule(item, `${path}[${String(index)}]`, index)) errors.push(error);
    if (errors.length >= LIST_ERRORS_MAX) break;
  }
  return errors;
}

/**
 * What is wrong by each of the rules, in their order. Where one list is checked by many of them and nearly all of it is wrong, those at the
 * end are not evaluated: their errors would not be reported.
 */
export function untilEnough(rules: readonly (() => readonly FieldError[])[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const rule of rules) {
    for (const error of rule()) errors.push(error);
    if (errors.length >= LIST_ERRORS_MAX) break;
  }
  return errors;
}

/** `Required` for an absent or empty text, else what the form says. */
export function requiredText(value: unknown, path: string, problems: Problems = () => []): FieldError[] {
  const given = text(value);
  return given === '' ? [required(path)] : invalidForEach(problems(given), given, path);
}

/** Nothing for an absent or empty text, else what the form says. */
export function optionalForm(value: unknown, path: string, problems: Problems): FieldError[] {
  const given = text(value);
  return given === '' ? [] : invalidForEach(problems(given), given, path);
}

/** `Required` where empty, `NotSupported` where not one of the list. */
export function requiredChoice(value: unknown, path: string, supported: readonly string[]): FieldError[] {
  const given = text(value);
  if (given === '') return [required(path)];
  return supported.includes(given) ? [] : [notSupported(path, given, supported)];
}

/** `NotSupported` where not one of the list, the empty text included. */
export function choice(value: unknown, path: string, supported: readonly string[]): FieldError[] {
  const given = text(value);
  return supported.includes(given) ? [] : [notSupported(path, given, supported)];
}

/** An integer of at least 0; absent is 0. */
export function nonNegative(value: unknown, path: string): FieldError[] {
  return (integer(value) ?? 0) >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')];
}

/** An integer of at least 1; absent is 0. */
export function positive(value: unknown, path: string): FieldError[] {
  return (integer(value) ?? 0) > 0 ? [] : [invalid(path, value ?? 0, 'must be greater than 0')];
}

/** An integer of `min` to `max`; absent is 0. */
export function inRange(
  value: unknown,
  path: string,
  { min, max }: { readonly min: number; readonly max: number },
): FieldError[] {
  const given = integer(value) ?? 0;
  return given >= min && given <= max ? [] : [invalid(path, given, rangeText(min, max))];
}

function rangeText(min: number, max: number): string {
  return `must be between ${String(min)} and ${String(max)}, inclusive`;
}

const PORT_MAX = 65_535;

/** A port number; absent is 0 and therefore bad. */
export function portNumber(value: unknown, path: string): FieldError[] {
  return inRange(value, path, { min: 1, max: PORT_MAX });
}

/** The same in words. */
export function portNumberProblems(value: unknown): readonly string[] {
  const given = integer(value) ?? 0;
  return given >= 1 && given <= PORT_MAX ? [] : [rangeText(1, PORT_MAX)];
}

/** A port number, or the name of a port. */
export function portNumberOrName(value: unknown, path: string): FieldError[] {
  return typeof value === 'string'
    ? invalidForEach(portNameProblems(value), value, path)
    : portNumber(value, path);
}

/** `Invalid` where the two differ. */
export function immutable(next: unknown, previous: unknown, path: string): FieldError[] {
  return deepEqual(next, previous) ? [] : [invalid(path, next ?? null, 'field is immutable')];
}

/** `Duplicate` for each key that an earlier item has; `pathOf` says where. Empty keys count for nothing. */
export function noDuplicates(keys: readonly string[], pathOf: (index: number) => string): FieldError[] {
  const seen = new Set<string>();
  return forEachItem(keys, '', (key, _path, index) => {
    if (key === '') return [];
    if (seen.has(key)) return [duplicate(pathOf(index), key)];
    seen.add(key);
    return [];
  });
}

/**
 * Where the value at an index stands first. In one pass over all: a list may be as long as a request, and looking back from each of its
 * items would take minutes.
 */
function firstIndexIn(values: readonly string[]): (index: number) => number {
  const firsts = new Map<string, number>();
  for (const [index, value] of values.entries()) if (!firsts.has(value)) firsts.set(value, index);
  return (index) => firsts.get(values[index] ?? '') ?? index;
}

/** Returns a predicate: does the value at an index also occur at an earlier one? */
export function repeatsIn(values: readonly string[]): (index: number) => boolean {
  const firstIndexOf = firstIndexIn(values);
  return (index) => firstIndexOf(index) < index;
}

/** A path inside a volume: relative, and not out of it. */
export function localDescendingPath(value: unknown, path: string): FieldError[] {
  const given = text(value);
  return [
    ...(given.startsWith('/') ? [invalid(path, given, 'must be a relative path')] : []),
    ...pathWithoutBacksteps(value, path),
  ];
}

/** A path without `..` as one of its parts. */
export function pathWithoutBacksteps(value: unknown, path: string): FieldError[] {
  const given = text(value);
  return given.split('/').includes('..') ? [invalid(path, given, "must not contain '..'")] : [];
}

const PORT_NAME = /^[-a-z0-9]+$/;

/** The name of a port: an IANA service name. */
export function portNameProblems(value: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(value) > 15) problems.push('must be no more than 15 characters');
  if (!PORT_NAME.test(value))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) problems.push('must contain at least one letter or number (a-z, 0-9)');
  if (value.includes('--')) problems.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** An address of either family. Leading zeros in an IPv4 address are allowed, as in v1.21. */
export function isIpAddress(value: string): boolean {
  return isIpv4Address(value) || (isIPv6(value) && !value.includes('%'));
}

export function isIpv4Address(value: string): boolean {
  return isIPv4(withoutLeadingZeros(value));
}

function withoutLeadingZeros(value: string): string {
  return value.replace(/(^|\.)0+(?=\d)/g, '$1');
}

export function ipAddress(value: unknown, path: string): FieldError[] {
  const given = text(value);
  return isIpAddress(given)
    ? []
    : [invalid(path, given, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

/** `10.0.0.0/8` or `fd00::/8`; bits after the prefix may be set. */
export function isCidr(value: string): boolean {
  const [address = '', bits = '', ...more] = value.split('/');
  if (more.length > 0 || !/^\d+$/.test(bits) || !isIpAddress(address)) return false;
  return Number(bits) <= (isIpv4Address(address) ? 32 : 128);
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;

/** A key of a ConfigMap or Secret, which becomes a file name. */
export function configKeyProblems(value: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(value) > 253) problems.push('must be no more than 253 characters');
  if (!CONFIG_KEY.test(value)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (value === '.') problems.push("must not be '.'");
  else if (value === '..') problems.push("must not be '..'");
  else if (value.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

/** A name that must be a DNS label, such as that of a container: `Required` where empty. */
export function requiredDnsLabel(value: unknown, path: string): FieldError[] {
  return requiredText(value, path, dns1123LabelProblems);
}

/** The name of another object with the usual form of names. */
export function optionalSubdomain(value: unknown, path: string): FieldError[] {
  return optionalForm(value, path, dns1123SubdomainProblems);
}

/**
 * The rules of the fields of one message, as one rule, in the order in which they are written. Fields without a rule are free. Which
 * message that is says the place where the rule is used, so that a misspelt field is no field of it.
 */
export function fields<Message extends object = never>(rules: FieldRules<NoInfer<Message>>): Rule<Message> {
  const names = keysOf<FieldRules<Message>>(rules);
  return (message, path) => names.flatMap((name) => rules[name]?.(message[name], `${path}.${name}`) ?? []);
}

/** The rule, where there is a value at all. */
export function ifPresent<Value>(rule: Rule<Value>): Rule<Value | null | undefined> {
  return (value, path) => (value === undefined || value === null ? [] : rule(value, path));
}

/** The rule on each item of a list. */
export function each<Item>(rule: Rule<Item>): Rule<readonly Item[] | undefined> {
  return (items, path) => (items === undefined ? [] : forEachItem(items, path, rule));
}

/** The text must be there. */
export const needed: Rule = (value, path) => requiredText(value, path);
