import { fromByteArray, IPv4, IPv6 } from 'ipaddr.js';
import { isIP } from 'node:net';
import { ipBytes } from '../../../../shared/meta/ip-address';

/** A numbered set of values of which each may have one owner: the addresses of a network, the ports of an interval. */
export interface ValueRange {
  readonly size: number;
  /** The value with this index, from 0 to size − 1, in its one canonical writing. */
  at(index: number): string;
  /** The index of a value, undefined when it is outside. */
  indexOf(value: string): number | undefined;
  /** How people write the range: `10.0.0.0/24`, `30000-32767`. */
  readonly text: string;
}

export type Family = 'IPv4' | 'IPv6';

export interface AddressRange extends ValueRange {
  readonly family: Family;
}

/** As many addresses as kube-apiserver allocates from a network at most; larger IPv6 networks are used up to this. */
const ADDRESS_BITS_MAX = 20;
const IPV6_BITS_USED_MAX = 16;
const ADDRESS_BITS_MIN = 3;

/** Reads `10.0.0.0/24` or `fd00::/112`. Returns a sentence about what is wrong when it cannot be used for services. */
export function parseAddressRange(
  text: string,
): { readonly ok: true; readonly range: AddressRange } | { readonly ok: false; readonly problem: string } {
  const [address = '', length = '', ...more] = text.split('/');
  const version = isIP(address);
  const width = version === 4 ? 32 : 128;
  const prefixBits = /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (version === 0 || more.length > 0 || !(prefixBits <= width)) {
    return { ok: false, problem: `"${text}" is no network in CIDR notation` };
  }
  const hostBits = width - prefixBits;
  if (version === 4 && hostBits > ADDRESS_BITS_MAX) {
    return {
      ok: false,
      problem: `${text} is too large: the mask must be at least ${String(width - ADDRESS_BITS_MAX)} bits long`,
    };
  }
  if (hostBits < ADDRESS_BITS_MIN) {
    return {
      ok: false,
      problem: `${text} is too small: services need at least ${String(2 ** ADDRESS_BITS_MIN)} addresses`,
    };
  }
  const usedBits = version === 4 ? hostBits : Math.min(hostBits, IPV6_BITS_USED_MAX);
  return { ok: true, range: addressRange(address, { version, prefixBits, hostBits, usedBits }) };
}

/**
 * Reads a network of any size, as ServiceCIDR objects have it. Returns undefined for a text that is no network, and for an IPv6 network
 * with more than 64 bits of hosts, which upstream does not allocate from.
 */
export function serviceNetwork(text: string): AddressRange | undefined {
  const [address = '', length = ''] = text.split('/');
  const version = isIP(address);
  const width = version === 4 ? 32 : 128;
  const prefixBits = /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (version === 0 || !(prefixBits <= width) || (version === 6 && prefixBits < IPV6_PREFIX_BITS_MIN))
    return undefined;
  const hostBits = width - prefixBits;
  return addressRange(address, {
    version,
    prefixBits,
    hostBits,
    usedBits: Math.min(hostBits, RANDOM_BITS_MAX),
  });
}

const IPV6_PREFIX_BITS_MIN = 64;
/** Random numbers have so many bits; larger networks have further addresses for those that request them. */
const RANDOM_BITS_MAX = 47;

/** The addresses of a network without its own and, for IPv4, the broadcast address. */
function addressRange(
  address: string,
  {
    version,
    prefixBits,
    hostBits,
    usedBits,
  }: {
    readonly version: number;
    readonly prefixBits: number;
    readonly hostBits: number;
    /** The bits of addresses that are given to those that ask for any. */
    readonly usedBits: number;
  },
): AddressRange {
  const family = version === 4 ? IPv4 : IPv6;
  const cidr = `${write(ipBytes(address))}/${String(prefixBits)}`;
  const network = Buffer.from(family.networkAddressFromCIDR(cidr).toByteArray());
  const first = numberOf(network) + 1n;
  const all = 2n ** BigInt(hostBits) - (version === 4 ? 2n : 1n);
  const size = Math.max(0, 2 ** usedBits - (version === 4 ? 2 : 1));
  // A bitmap has no other addresses.
  const known = usedBits === IPV6_BITS_USED_MAX ? BigInt(size) : all;
  return {
    family: version === 4 ? 'IPv4' : 'IPv6',
    size,
    text: `${write(network)}/${String(prefixBits)}`,
    at: (index) => write(bytesOf(first + BigInt(index), network.length)),
    indexOf: (value) => {
      if (isIP(value) !== version) return undefined;
      const index = numberOf(ipBytes(value)) - first;
      return index >= 0n && index < known ? Number(index) : undefined;
    },
  };
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function bytesOf(number: bigint, length: number): Buffer {
  return Buffer.from(number.toString(16).padStart(length * 2, '0'), 'hex');
}

/** Reads `30000-32767`, or `30000+100` for a first port and how many follow. Undefined when it is no interval of ports. */
export function parsePortRange(text: string): ValueRange | undefined {
  const [, low = '', sign = '', high = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text) ?? [];
  const first = Number(low);
  const last = sign === '' ? first : sign === '-' ? Number(high) : first + Number(high);
  if (low === '' || first < 1 || last < first || last > 65_535) return undefined;
  const size = last - first + 1;
  return {
    size,
    text: `${String(first)}-${String(last)}`,
    at: (index) => String(first + index),
    indexOf: (value) => (/^\d{1,5}$/.test(value) ? withinSize(Number(value) - first, size) : undefined),
  };
}

/** The values of several ranges that have none in common, those of the first one first. */
export function unionOf(ranges: readonly ValueRange[]): ValueRange {
  const [first] = ranges;
  if (first !== undefined && ranges.length === 1) return first;
  const starts = ranges.map((_range, index) =>
    ranges.slice(0, index).reduce((sum, { size }) => sum + size, 0),
  );
  return {
    size: ranges.reduce((sum, { size }) => sum + size, 0),
    text: ranges.map(({ text }) => text).join(','),
    at(index) {
      const place = starts.findLastIndex((start) => start <= index);
      return ranges[place]?.at(index - (starts[place] ?? 0)) ?? '';
    },
    indexOf(value) {
      for (const [place, range] of ranges.entries()) {
        const index = range.indexOf(value);
        if (index !== undefined) return (starts[place] ?? 0) + index;
      }
      return undefined;
    },
  };
}

/**
 * Reads the ranges of addresses of Services: one, or two of different families with a comma between them. Returns a sentence for what
 * is wrong.
 */
export function parseAddressRanges(text: string): ParsedRanges {
  const parsed = text.split(',').map((each) => parseAddressRange(each.trim()));
  const problems = parsed.flatMap((each) => (each.ok ? [] : [each.problem]));
  if (parsed.length > 2) problems.push('it must not have more than two entries');
  const [addresses, secondaryAddresses] = parsed.flatMap((each) => (each.ok ? [each.range] : []));
  if (problems.length === 0 && addresses?.family === secondaryAddresses?.family) {
    problems.push('its two entries must be of different IP families');
  }
  return problems.length > 0 || addresses === undefined
    ? { ok: false, problems }
    : { ok: true, addresses, secondaryAddresses };
}

type ParsedRanges =
  | {
      readonly ok: true;
      readonly addresses: AddressRange;
      readonly secondaryAddresses: AddressRange | undefined;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

function withinSize(index: number, size: number): number | undefined {
  return index >= 0 && index < size ? index : undefined;
}

/** An address in the writing that its claim has, however it is written; what is no address as it is. */
export function canonicalAddress(text: string): string {
  return isIP(text) === 0 ? text : write(ipBytes(text));
}

/** The one canonical writing (RFC 5952 for IPv6). */
function write(bytes: Buffer): string {
  const address = fromByteArray([...bytes]);
  return address instanceof IPv6 ? address.toRFC5952String() : address.toString();
}
