import type { IPv4, IPv6 } from 'ipaddr.js';
import { IPv6 as Ipv6Address } from 'ipaddr.js';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { parseIpAddress, withoutMapping } from '../../../../shared/meta/ip-address';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { ipAddress, isCidr, isIpAddress } from './primitives';

/**
 * Addresses and networks of fields that accept one spelling only: no leading zeros, no IPv4 address in IPv6 form, no bits
 * after the prefix (apimachinery's `IsValidIP`, `IsValidCIDR` and `IsValidInterfaceAddress`).
 */

const LEADING_ZERO = /(?:^|\.)0\d/;
const IP_FORM = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR_FORM = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const INTERFACE_FORM = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';

/** Validates an address; one that is spelled differently than its canonical form is valid. */
export function strictIp(value: string, path: string): FieldError[] {
  if (!isIpAddress(value)) return [invalid(path, value, IP_FORM)];
  return [
    ...(hasLeadingZeros(value) ? [invalid(path, value, 'must not have leading 0s')] : []),
    ...(isMapped(value) ? [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')] : []),
  ];
}

/** Validates an address of a field that accepts more spellings without the gate. */
export function legacyIp(value: string, path: string, settings: KindSettings): FieldError[] {
  return isOn(settings, 'StrictIPCIDRValidation') ? strictIp(value, path) : ipAddress(value, path);
}

/** Validates a network of a field that accepts more spellings without the gate. */
export function legacyCidr(value: string, path: string, settings: KindSettings): FieldError[] {
  if (isOn(settings, 'StrictIPCIDRValidation')) return strictCidr(value, path);
  return isCidr(value) ? [] : [invalid(path, value, CIDR_FORM)];
}

/**
 * Ratchets the spelling of addresses and networks: returns the faults without those of values that the previous object has anywhere, since
 * elements of lists move. `faultsOf` validates the previous object.
 */
export function keepSpellings(
  faults: readonly FieldError[],
  faultsOf: (() => readonly FieldError[]) | undefined,
): readonly FieldError[] {
  if (faultsOf === undefined || !faults.some(isSpelling)) return faults;
  const before = new Set(
    faultsOf()
      .filter(isSpelling)
      .map(({ message }) => message),
  );
  return faults.filter((fault) => !isSpelling(fault) || !before.has(fault.message));
}

const SPELLING = /must not (?:have (?:leading 0s|an IPv4-mapped|bits set)|be an IPv4-mapped)/;

function isSpelling({ message }: FieldError): boolean {
  return SPELLING.test(message);
}

/** Validates an address in its canonical form. */
export function canonicalIp(value: string, path: string): FieldError[] {
  const errors = strictIp(value, path);
  if (errors.length > 0) return errors;
  return inCanonicalForm(value, formatAddress(parseIpAddress(value)), path);
}

/** Validates a network; one that is spelled differently than its canonical form is valid. */
export function strictCidr(value: string, path: string): FieldError[] {
  if (!isCidr(value)) return [invalid(path, value, CIDR_FORM)];
  const { address, bits } = partsOf(value);
  if (hasLeadingZeros(address) || /^0\d/.test(bits)) {
    return [invalid(path, value, 'must not have leading 0s in IP or prefix length')];
  }
  if (isMapped(address)) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  return isNetworkAddress(parseIpAddress(address), Number(bits))
    ? []
    : [invalid(path, value, 'must not have bits set beyond the prefix length')];
}

/** Validates a network in its canonical form. */
export function canonicalCidr(value: string, path: string): FieldError[] {
  const errors = strictCidr(value, path);
  if (errors.length > 0) return errors;
  const { address, bits } = partsOf(value);
  return inCanonicalForm(value, `${formatAddress(parseIpAddress(address))}/${bits}`, path);
}

/** Validates the address of a network interface with the length of its prefix, in canonical form. */
export function interfaceAddress(value: string, path: string): FieldError[] {
  if (!isCidr(value)) return [invalid(path, value, INTERFACE_FORM)];
  const { address, bits } = partsOf(value);
  const parsed = parseIpAddress(address);
  const plain = withoutMapping(parsed);
  // A prefix of a mapped address counts the bits of its IPv6 form.
  const length = plain === parsed ? Number(bits) : Math.max(0, Number(bits) - MAPPED_PREFIX_BITS);
  return inCanonicalForm(value, `${formatAddress(plain)}/${String(length)}`, path);
}

const MAPPED_PREFIX_BITS = 96;

function inCanonicalForm(value: string, canonical: string, path: string): FieldError[] {
  return value === canonical
    ? []
    : [invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

/** Splits a network into its address and the length of its prefix. */
export function partsOf(cidr: string): { readonly address: string; readonly bits: string } {
  const slash = cidr.indexOf('/');
  return { address: cidr.slice(0, slash), bits: cidr.slice(slash + 1) };
}

/** Whether a part of an address begins with a zero that counts for nothing. */
export function hasLeadingZeros(address: string): boolean {
  return LEADING_ZERO.test(address.slice(address.lastIndexOf(':') + 1)) && address.includes('.');
}

/** Whether the address is an IPv4 address in IPv6 form. */
export function isMapped(address: string): boolean {
  const parsed = parseIpAddress(address);
  return withoutMapping(parsed) !== parsed;
}

/** Formats an address as Go does: IPv6 as in RFC 5952. */
export function formatAddress(address: IPv4 | IPv6): string {
  return address instanceof Ipv6Address ? address.toRFC5952String() : address.toString();
}

/** Whether no bits are set after the prefix. */
export function isNetworkAddress(address: IPv4 | IPv6, bits: number): boolean {
  return address
    .toByteArray()
    .every((byte, at) => (byte & (0xff >> Math.min(8, Math.max(0, bits - at * 8)))) === 0);
}
