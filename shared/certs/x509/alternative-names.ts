import { isIP } from 'node:net';
import { fromByteArray } from 'ipaddr.js';
import { parseIpAddress, withoutMapping } from '../../meta/ip-address';
import type { DerValue } from '../der-reader';
import { DER_TAG, derChildren, derValues } from '../der-reader';
import { GENERAL_NAME } from '../signed-certificate';

/** The names of the kinds that chain verification reads; others are ignored. */
export interface AlternativeNames {
  readonly emails: readonly string[];
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** 4 or 16 bytes each. */
  readonly addresses: readonly Buffer[];
}

/** The names of a certificate that `hostNameProblem` compares. */
export interface NamedCertificate {
  /** Undefined: the certificate has no such extension. */
  readonly alternativeNames: AlternativeNames | undefined;
  readonly commonName: string;
}

/** Parses the value of the extension. Throws an Error if it is malformed. */
export function alternativeNamesOf(value: Buffer): AlternativeNames {
  const [list] = derValues(value);
  const names = derChildren(list, DER_TAG.sequence);
  return {
    emails: textsOf(names, GENERAL_NAME.email),
    dnsNames: textsOf(names, GENERAL_NAME.dns),
    uris: textsOf(names, GENERAL_NAME.uri),
    addresses: contentsOf(names, GENERAL_NAME.ip).map((bytes) => {
      if (bytes.length !== 4 && bytes.length !== 16) throw new Error('a malformed IP address');
      return bytes;
    }),
  };
}

/** Returns the contents of the general names of one kind. */
export function contentsOf(names: readonly DerValue[], kind: number): readonly Buffer[] {
  return names.filter(({ tag }) => tag === (CONTEXT | kind)).map(({ content }) => content);
}

/** Returns the names of one kind. Throws an Error if one has characters outside ASCII. */
export function textsOf(names: readonly DerValue[], kind: number): readonly string[] {
  return contentsOf(names, kind).map((bytes) => {
    if (bytes.some((byte) => byte > ASCII_MAX)) throw new Error('a malformed alternative name');
    return bytes.toString('latin1');
  });
}

const CONTEXT = 0x80;
const ASCII_MAX = 0x7f;

/**
 * Returns why a server's certificate is not for this host; undefined if it is. The rules and texts are those of Go (`VerifyHostname`): an
 * address matches addresses only, a wildcard stands for the whole first label, and the common name never counts.
 */
export function hostNameProblem(certificate: NamedCertificate, host: string): string | undefined {
  const plain = host.replace(/^\[(.+)\]$/u, '$1');
  const names = certificate.alternativeNames;
  const isAddress = isIP(plain) !== 0;
  if (isAddress) {
    const wanted = addressText(plain);
    if (names?.addresses.some((bytes) => textOfBytes(bytes) === wanted) === true) return undefined;
  } else if (names?.dnsNames.some((name) => isNameOf(name, host)) === true) {
    return undefined;
  }
  if (names === undefined && matchesPattern(certificate.commonName, host)) {
    return 'certificate relies on legacy Common Name field, use SANs instead';
  }
  const valid = (isAddress ? names?.addresses.map(textOfBytes) : names?.dnsNames) ?? [];
  if (valid.length > NAMES_IN_TEXT_MAX) {
    const kind = isAddress ? 'IP SANs' : 'names';
    return `certificate is valid for ${String(valid.length)} ${kind}, but none matched ${plain}`;
  }
  if (valid.length > 0) return `certificate is valid for ${valid.join(', ')}, not ${plain}`;
  return isAddress
    ? `cannot validate certificate for ${plain} because it doesn't contain any IP SANs`
    : `certificate is not valid for any names, but wanted to match ${plain}`;
}

const NAMES_IN_TEXT_MAX = 100;

/** An IPv4 address and the same one mapped to IPv6 are equal. */
function addressText(text: string): string {
  return withoutMapping(parseIpAddress(text)).toString();
}

function textOfBytes(bytes: Buffer): string {
  return withoutMapping(fromByteArray([...bytes])).toString();
}

/** Only valid names are compared by label; any others have to be equal. */
function isNameOf(name: string, host: string): boolean {
  if (isValidName(host.replace(/\.$/u, ''), LABEL) && isValidName(name, PATTERN_LABEL)) {
    return matchesPattern(name, host);
  }
  return host !== '' && host !== '.' && lowerCase(name) === lowerCase(host);
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*)$/iu;
const PATTERN_LABEL = /^(?:\*|[a-z0-9_](?:[a-z0-9_-]*))$/iu;

function isValidName(name: string, first: RegExp): boolean {
  if (name === '*') return false;
  return name.split('.').every((label, index) => (index === 0 ? first : LABEL).test(label));
}

function matchesPattern(pattern: string, host: string): boolean {
  const wanted = lowerCase(pattern).split('.');
  const labels = lowerCase(host).replace(/\.$/u, '').split('.');
  if (pattern === '' || labels.join('') === '' || wanted.length !== labels.length) return false;
  return wanted.every((label, index) => (index === 0 && label === '*') || label === labels[index]);
}

/** ASCII only, as names in certificates are compared. */
function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase());
}
