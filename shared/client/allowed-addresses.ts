import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { IPv6 } from 'ipaddr.js';
import { IPv4, parseCIDR } from 'ipaddr.js';
import type { AllowsAddress } from '../meta/ip-address';
import { parseIpAddress, withoutMapping } from '../meta/ip-address';
import { ConnectionError } from './connection-error';

/** The code of the ConnectionError for a refused address. */
export const ADDRESS_NOT_ALLOWED = 'EADDRNOTALLOWED';

/**
 * Returns a policy that refuses the addresses of these networks (`169.254.0.0/16`, `fe80::/10`). IPv4 addresses inside of IPv6 ones (mapped,
 * for NAT64, or for tunnels) are compared as IPv4 too. Text that is no address is refused. Throws an Error for text that is no network.
 */
export function allowsOutsideOf(networks: readonly string[]): AllowsAddress {
  const isDenied = isInside(networks);
  return (text) => isIP(text) !== 0 && !isDenied(text);
}

/** Returns whether an address is in one of these networks, as {@link allowsOutsideOf} compares them. Throws an Error for text that is no network. */
export function isInside(networks: readonly string[]): AllowsAddress {
  const parsed = networks.map((each) => parseCIDR(each));
  return (text) =>
    formsOf(text).some((address) =>
      parsed.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits])),
    );
}

/**
 * Returns a lookup that refuses a host if any of its addresses is refused. The connection uses the checked addresses: a second lookup could return
 * others (DNS rebinding).
 */
export function checkedLookup(allows: AllowsAddress): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, '', 0);
      else if (first === undefined)
        callback(Object.assign(new Error('no addresses for hostname'), { code: 'ENOTFOUND' }), '', 0);
      else if (!addresses.every(({ address }) => allows(address))) callback(addressNotAllowed(), '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Returns the option by which Node's connections look up names; none without a policy. */
export function lookupOption(allows: AllowsAddress | undefined): { readonly lookup?: LookupFunction } {
  return allows === undefined ? {} : { lookup: checkedLookup(allows) };
}

/** Throws a ConnectionError if `host` is a refused address. Names are checked by {@link checkedLookup}: Node looks up no address. */
export function checkLiteral(host: string, allows: AllowsAddress | undefined): void {
  if (isIP(host) !== 0 && allows?.(host) === false) throw addressNotAllowed();
}

/** Allows what both policies allow; an absent one allows every address. */
export function bothAllow(
  one: AllowsAddress | undefined,
  other: AllowsAddress | undefined,
): AllowsAddress | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (address) => one(address) && other(address);
}

function addressNotAllowed(): ConnectionError {
  return new ConnectionError('address not allowed', { code: ADDRESS_NOT_ALLOWED, outcomeUnknown: false });
}

/** The address, and the IPv4 addresses to which a gateway or tunnel would send what is sent to it. */
function formsOf(text: string): readonly (IPv4 | IPv6)[] {
  if (isIP(text) === 0) return [];
  const address = withoutMapping(parseIpAddress(text));
  if (address instanceof IPv4) return [address];
  const bytes = address.toByteArray();
  const embedded = EMBEDDINGS.filter(({ at = 0, prefix }) =>
    prefix.every((byte, index) => bytes[at + index] === byte),
  ).flatMap(({ places, mask = 0 }) =>
    places.map((place) => new IPv4(place.map((index) => (bytes[index] ?? 0) ^ mask))),
  );
  return [address, ...embedded];
}

interface Embedding {
  /** The bytes by which such an address is known, and the index of the first one; by default 0. */
  readonly prefix: readonly number[];
  readonly at?: number;
  /** The indexes of the bytes of each IPv4 address. */
  readonly places: readonly (readonly number[])[];
  /** With which each byte is combined (XOR). */
  readonly mask?: number;
}

const LAST = [12, 13, 14, 15];
const EMBEDDINGS: readonly Embedding[] = [
  // `::a.b.c.d`, RFC 4291. The unspecified and the loopback address contain harmless ones.
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], places: [LAST] },
  // NAT64: `64:ff9b::/96` (RFC 6052), and `64:ff9b:1::/48` (RFC 8215), in which a gateway has a prefix of 48, 56, 64 or 96 bits.
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], places: [LAST] },
  {
    prefix: [0, 0x64, 0xff, 0x9b, 0, 1],
    places: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST],
  },
  // 6to4, RFC 3056.
  { prefix: [0x20, 0x02], places: [[2, 3, 4, 5]] },
  // Teredo, RFC 4380: the server, and the client with all bits inverted.
  { prefix: [0x20, 0x01, 0, 0], places: [[4, 5, 6, 7]] },
  { prefix: [0x20, 0x01, 0, 0], places: [LAST], mask: 0xff },
  // ISATAP, RFC 5214, for local and for global IPv4 addresses.
  { at: 8, prefix: [0, 0, 0x5e, 0xfe], places: [LAST] },
  { at: 8, prefix: [2, 0, 0x5e, 0xfe], places: [LAST] },
];
