import { isIP } from 'node:net';
import { ipBytes } from '../../../shared/certs/ip-bytes';

/** A numbered set of values of which each may have one owner: the addresses of a network, the ports of an interval. */
export interface ValueRange {
  readonly size: number;
  /** The value with this index, from 0 to size − 1, in its one canonical writing. */
  at(index: number): string;
  /** The index of a value, undefined when it lies outside. */
  indexOf(value: string): number | undefined;
  /** How people write the range: `10.0.0.0/24`, `30000-32767`. */
  readonly text: string;
}

export interface AddressRange extends ValueRange {
  readonly family: 'IPv4' | 'IPv6';
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
  return { ok: true, range: addressRange(address, { version, prefixBits, hostBits }) };
}

/** The addresses of a network without its own and, for IPv4, the broadcast address. */
function addressRange(
  address: string,
  {
    version,
    prefixBits,
    hostBits,
  }: { readonly version: number; readonly prefixBits: number; readonly hostBits: number },
): AddressRange {
  const network = (toInteger(address) >> BigInt(hostBits)) << BigInt(hostBits);
  const write = version === 4 ? writeIpv4 : writeIpv6;
  const size = version === 4 ? 2 ** hostBits - 2 : 2 ** Math.min(hostBits, IPV6_BITS_USED_MAX) - 1;
  const first = network + 1n;
  return {
    family: version === 4 ? 'IPv4' : 'IPv6',
    size,
    text: `${write(network)}/${String(prefixBits)}`,
    at: (index) => write(first + BigInt(index)),
    indexOf: (value) => {
      if (isIP(value) !== version) return undefined;
      return withinSize(Number(toInteger(value) - first), size);
    },
  };
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

function withinSize(index: number, size: number): number | undefined {
  return index >= 0 && index < size ? index : undefined;
}

function toInteger(address: string): bigint {
  return BigInt(`0x${ipBytes(address).toString('hex')}`);
}

function writeIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

function writeIpv6(value: bigint): string {
  const groups = value.toString(16).padStart(32, '0').match(/.{4}/g) ?? [];
  // The URL parser knows the canonical writing of an address: lower case, the longest run of zeros compressed.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
