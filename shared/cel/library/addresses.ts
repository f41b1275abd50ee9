import { isIPv4, isIPv6 } from 'node:net';
import type { FunctionDeclaration, VariableDeclaration } from '../check/declarations';
import { BOOL, INT, STRING, opaqueOf, typeOf } from '../check/types';
import { EvalError, NO_OVERLOAD, OpaqueValue, TypeValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, global, method, onStrings } from './functions';

export const IP_TYPE = opaqueOf('net.IP');
export const CIDR_TYPE = opaqueOf('net.CIDR');
const SINCE = 30;

/** The names of the types of addresses and networks. */
export const ADDRESS_TYPE_NAMES: readonly VariableDeclaration[] = [IP_TYPE, CIDR_TYPE].map((type) => ({
  name: type.name,
  type: typeOf(type),
  value: new TypeValue(type),
}));

/** An address as a number, with the count of its bits. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

class IpValue extends OpaqueValue {
  readonly type = IP_TYPE;
  readonly address: Address;
  override readonly size: number;

  constructor(address: Address) {
    super();
    this.address = address;
    this.size = address.bits / 8;
  }

  override equals(other: OpaqueValue): boolean {
    return (
      other instanceof IpValue &&
      other.address.bits === this.address.bits &&
      other.address.value === this.address.value
    );
  }
}

class CidrValue extends OpaqueValue {
  readonly type = CIDR_TYPE;
  readonly address: Address;
  readonly prefixLength: number;
  override readonly size: number;

  constructor(address: Address, prefixLength: number) {
    super();
    this.address = address;
    this.prefixLength = prefixLength;
    this.size = Math.ceil(prefixLength / 8);
  }

  /** Returns the address without the bits after the prefix. */
  masked(address = this.address): bigint {
    const hostBits = BigInt(this.address.bits - this.prefixLength);
    return (address.value >> hostBits) << hostBits;
  }

  contains(address: Address): boolean {
    return address.bits === this.address.bits && this.masked(address) === this.masked();
  }

  override equals(other: OpaqueValue): boolean {
    if (!(other instanceof CidrValue) || other.prefixLength !== this.prefixLength) return false;
    return other.address.bits === this.address.bits && other.address.value === this.address.value;
  }
}

/** Reads an address; text is the reason why it is none. IPv4 addresses inside of IPv6 and zones are refused, as upstream does. */
function parseAddress(text: string): Address | string {
  if (isIPv4(text)) {
    return { bits: 32, value: text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) };
  }
  if (!isIPv6(text))
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`;
  if (text.includes('%')) return `IP address ${JSON.stringify(text)} with zone value is not allowed`;
  const value = parseIpv6(text);
  if (value >> 32n === 0xffffn) return `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`;
  return { bits: 128, value };
}

function parseIpv6(text: string): bigint {
  const embedded = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/u.exec(text);
  let plain = text;
  if (embedded !== null) {
    const [a = 0, b = 0, c = 0, d = 0] = embedded.slice(1).map(Number);
    plain = text.slice(0, embedded.index) + `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const [head = '', tail] = plain.split('::');
  const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Writes an address in its canonical form; the longest run of zeros of an IPv6 address is left out. */
function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16),
  );
  let longest = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (groups[start + length] === '0') length += 1;
    if (length > longest.length) longest = { start, length };
  }
  if (longest.start < 0) return groups.join(':');
  return `${groups.slice(0, longest.start).join(':')}::${groups.slice(longest.start + longest.length).join(':')}`;
}

function parseCidr(text: string): CidrValue | string {
  const failed = `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)})`;
  const match = /^(.*)\/(0|[1-9]\d{0,2})$/su.exec(text);
  if (match === null) return `${failed}: no '/'`;
  const address = parseAddress(match[1] ?? '');
  if (typeof address === 'string')
    return address.startsWith('IPv4-mapped') ? address : `${failed}: unable to parse IP`;
  const prefixLength = Number(match[2]);
  return prefixLength > address.bits
    ? `${failed}: prefix length out of range`
    : new CidrValue(address, prefixLength);
}

function toIp(text: string): Result {
  const address = parseAddress(text);
  return typeof address === 'string' ? new EvalError(address) : new IpValue(address);
}

function toCidr(text: string): Result {
  const cidr = parseCidr(text);
  return typeof cidr === 'string' ? new EvalError(cidr) : cidr;
}

function onIp(run: (address: Address) => Result): (value?: Value) => Result {
  return (value) => (value instanceof IpValue ? run(value.address) : NO_OVERLOAD);
}

function onCidr(run: (cidr: CidrValue, other: Value) => Result): (value?: Value, other?: Value) => Result {
  return (value, other = null) => (value instanceof CidrValue ? run(value, other) : NO_OVERLOAD);
}

/** Whether an address lies in one of the ranges, given for IPv4 and IPv6. */
function isIn(address: Address, ipv4: string, ipv6: string): boolean {
  const cidr = parseCidr(address.bits === 32 ? ipv4 : ipv6);
  return typeof cidr !== 'string' && cidr.contains(address);
}

const isUnspecified = (address: Address): boolean => address.value === 0n;
const isLoopback = (address: Address): boolean => isIn(address, '127.0.0.0/8', '::1/128');
const isMulticast = (address: Address): boolean => isIn(address, '224.0.0.0/4', 'ff00::/8');
const isLinkLocal = (address: Address): boolean => isIn(address, '169.254.0.0/16', 'fe80::/10');
const isLinkLocalMulticast = (address: Address): boolean => isIn(address, '224.0.0.0/24', 'ff02::/16');
const isBroadcast = (address: Address): boolean => address.bits === 32 && address.value === 0xffff_ffffn;
const isGlobal = (address: Address): boolean =>
  ![isUnspecified, isLoopback, isMulticast, isLinkLocal, isBroadcast].some((test) => test(address));

const containsIp = onCidr((cidr, other) => {
  const ip = typeof other === 'string' ? toIp(other) : other;
  if (ip instanceof EvalError) return ip;
  return ip instanceof IpValue ? cidr.contains(ip.address) : NO_OVERLOAD;
});

const containsCidr = onCidr((cidr, other) => {
  const inner = typeof other === 'string' ? toCidr(other) : other;
  if (inner instanceof EvalError) return inner;
  if (!(inner instanceof CidrValue)) return NO_OVERLOAD;
  return cidr.prefixLength <= inner.prefixLength && cidr.contains(inner.address);
});

function predicate(name: string, id: string, test: (address: Address) => boolean): FunctionDeclaration {
  return declare(name, SINCE, method(id, [IP_TYPE], BOOL, onIp(test)));
}

/** Addresses and networks (k8s.io/apiserver `cel/library/ip.go` and `cidr.go`). */
export const ADDRESS_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'ip',
    SINCE,
    global(
      'string_to_ip',
      [STRING],
      IP_TYPE,
      onStrings((text = '') => toIp(text)),
    ),
    method(
      'cidr_ip',
      [CIDR_TYPE],
      IP_TYPE,
      onCidr((cidr) => new IpValue(cidr.address)),
    ),
  ),
  declare(
    'family',
    SINCE,
    method(
      'ip_family',
      [IP_TYPE],
      INT,
      onIp(({ bits }) => (bits === 32 ? 4n : 6n)),
    ),
  ),
  declare(
    'ip.isCanonical',
    SINCE,
    global(
      'ip_is_canonical',
      [STRING],
      BOOL,
      onStrings((text = '') => {
        const address = parseAddress(text);
        return typeof address === 'string' ? new EvalError(address) : formatAddress(address) === text;
      }),
    ),
  ),
  declare(
    'isIP',
    SINCE,
    global(
      'is_ip',
      [STRING],
      BOOL,
      onStrings((text = '') => typeof parseAddress(text) !== 'string'),
    ),
  ),
  predicate('isUnspecified', 'ip_is_unspecified', isUnspecified),
  predicate('isLoopback', 'ip_is_loopback', isLoopback),
  predicate('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
  predicate('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocal),
  predicate('isGlobalUnicast', 'ip_is_global_unicast', isGlobal),
  declare(
    'string',
    SINCE,
    global('ip_to_string', [IP_TYPE], STRING, onIp(formatAddress)),
    global(
      'cidr_to_string',
      [CIDR_TYPE],
      STRING,
      onCidr((cidr) => `${formatAddress(cidr.address)}/${cidr.prefixLength}`),
    ),
  ),
  declare(
    'cidr',
    SINCE,
    global(
      'string_to_cidr',
      [STRING],
      CIDR_TYPE,
      onStrings((text = '') => toCidr(text)),
    ),
  ),
  declare(
    'isCIDR',
    SINCE,
    global(
      'is_cidr',
      [STRING],
      BOOL,
      onStrings((text = '') => typeof parseCidr(text) !== 'string'),
    ),
  ),
  declare(
    'containsIP',
    SINCE,
    method('cidr_contains_ip_string', [CIDR_TYPE, STRING], BOOL, containsIp),
    method('cidr_contains_ip_ip', [CIDR_TYPE, IP_TYPE], BOOL, containsIp),
  ),
  declare(
    'containsCIDR',
    SINCE,
    method('cidr_contains_cidr_string', [CIDR_TYPE, STRING], BOOL, containsCidr),
    method('cidr_contains_cidr', [CIDR_TYPE, CIDR_TYPE], BOOL, containsCidr),
  ),
  declare(
    'prefixLength',
    SINCE,
    method(
      'cidr_prefix_length',
      [CIDR_TYPE],
      INT,
      onCidr((cidr) => BigInt(cidr.prefixLength)),
    ),
  ),
  declare(
    'masked',
    SINCE,
    method(
      'cidr_masked',
      [CIDR_TYPE],
      CIDR_TYPE,
      onCidr((cidr) => new CidrValue({ bits: cidr.address.bits, value: cidr.masked() }, cidr.prefixLength)),
    ),
  ),
];
