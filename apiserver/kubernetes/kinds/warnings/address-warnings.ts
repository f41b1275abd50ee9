import { fromByteArray } from 'ipaddr.js';
import { goQuote } from '../../../../shared/errors/go-quote';
import { parseIpAddress, withoutMapping } from '../../../../shared/meta/ip-address';
import {
  formatAddress,
  hasLeadingZeros,
  isMapped,
  isNetworkAddress,
  partsOf,
} from '../rules/strict-addresses';
import { isCidr, isIpAddress } from '../rules/primitives';

/**
 * Returns the warnings about the spelling of an address at `path`. Text that is no address has none, because validation refuses it. Source:
 * GetWarningsForIP of apimachinery.
 */
export function ipWarnings(value: string, path: string): readonly string[] {
  if (!isIpAddress(value)) return [];
  const canonical = formatAddress(withoutMapping(parseIpAddress(value)));
  if (hasLeadingZeros(value) || isMapped(value)) {
    return [`${path}: non-standard IP address ${goQuote(value)} is invalid: use ${goQuote(canonical)}`];
  }
  if (!value.includes(':') || canonical === value) return [];
  return [
    `${path}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`,
  ];
}

/** Returns the warnings about the spelling of a network at `path`. Source: GetWarningsForCIDR of apimachinery. */
export function cidrWarnings(value: string, path: string): readonly string[] {
  if (!isCidr(value)) return [];
  const { address, bits } = partsOf(value);
  const parsed = parseIpAddress(address);
  const plain = withoutMapping(parsed);
  const length = plain === parsed ? Number(bits) : Math.max(0, Number(bits) - MAPPED_PREFIX_BITS);
  const text = formatAddress(plain);
  const network = `${networkAddress(text, length)}/${String(length)}`;
  const warnings: string[] = [];
  if (!isNetworkAddress(plain, length)) {
    const single = `${text}/${String(plain.toByteArray().length * 8)}`;
    warnings.push(
      `${path}: CIDR value ${goQuote(value)} is ambiguous in this context (should be ${goQuote(network)} or ${goQuote(single)}?)`,
    );
  }
  if (hasLeadingZeros(address) || /^0\d/.test(bits) || isMapped(address)) {
    warnings.push(`${path}: non-standard CIDR value ${goQuote(value)} is invalid: use ${goQuote(network)}`);
  }
  const canonical = `${text}/${bits}`;
  if (warnings.length === 0 && value.includes(':') && canonical !== value) {
    warnings.push(
      `${path}: IPv6 CIDR value ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`,
    );
  }
  return warnings;
}

const MAPPED_PREFIX_BITS = 96;

/** The address without the bits after the prefix. */
function networkAddress(address: string, length: number): string {
  const parsed = parseIpAddress(address);
  const bytes = parsed
    .toByteArray()
    .map((byte, at) => byte & ~(0xff >> Math.min(8, Math.max(0, length - at * 8))) & 0xff);
  return formatAddress(fromByteArray(bytes));
}
