import type { KeyObject } from 'node:crypto';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../concurrency/clock';
import type { AlternativeNames, CertificateRequest, NameAttribute } from './certificate-request';
import * as der from './der';
import type { DerValue } from './der-reader';
import { DER_TAG, derChildren, derContextTag, derValues } from './der-reader';
import { EXTENDED_USAGES, KEY_USAGES } from './key-usages';
import {
  authorityKeyIdentifier,
  BACKDATE_MS,
  EXTENSION,
  extension,
  GENERAL_NAME,
  nameAttribute,
  signedCertificate,
} from './signed-certificate';

/** A certificate with its key, ready to sign others. */
export interface SigningAuthority {
  /** The name of the authority, as the same bytes that it has there: a chain is found by comparing bytes. */
  readonly subject: Buffer;
  readonly keyIdentifier: Buffer | undefined;
  readonly notAfterMs: number;
  readonly privateKey: KeyObject;
}

export interface SignOptions {
  /** As the API calls them: `client auth`, `digital signature`. */
  readonly usages: readonly string[];
  /** How long the certificate is to be good, counted from the moment before now at which it begins to be. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/** Other blocks may stand before the key: the parameters of its curve. */
const PEM_PRIVATE_KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/;

/** An authority from the texts of its two files. Throws an Error unless there is one certificate, and the key that belongs to it. */
export function signingAuthorityOf(certificatePem: string, keyPem: string): SigningAuthority {
  const [block, ...others] = certificatePem.match(PEM_CERTIFICATE) ?? [];
  if (block === undefined || others.length > 0) {
    const found = block === undefined ? 0 : others.length + 1;
    throw new Error(`there must be one certificate, not ${String(found)}`);
  }
  const [key] = PEM_PRIVATE_KEY.exec(keyPem) ?? [];
  if (key === undefined) throw new Error('there is no private key in PEM form');
  const x509 = new X509Certificate(block);
  const privateKey = createPrivateKey(key);
  if (!x509.checkPrivateKey(privateKey)) throw new Error('the private key does not match the certificate');
  const [certificate] = derValues(x509.raw);
  const [toBeSigned] = derChildren(certificate, DER_TAG.sequence);
  const fields = derChildren(toBeSigned, DER_TAG.sequence);
  // The version is left out of the oldest certificates.
  const subject = fields[fields[0]?.tag === derContextTag(0) ? 5 : 4];
  if (subject === undefined) throw new Error('the certificate has no name');
  return {
    subject: subject.whole,
    keyIdentifier: keyIdentifierOf(fields.find(({ tag }) => tag === derContextTag(3))),
    notAfterMs: Date.parse(x509.validTo),
    privateKey,
  };
}

/**
 * Signs what a request asks for: its name, its key and its further names; of its extensions nothing else. The certificate is no
 * authority, may be used for the usages, and ends no later than the authority's. As PEM. Throws an Error when the authority has ended,
 * the time would be over before it begins, a usage is unknown, or the request was not signed with its own key.
 */
export function signCertificateRequest(
  authority: SigningAuthority,
  request: CertificateRequest,
  { usages, lifetimeMs, clock }: SignOptions,
): string {
  if (!request.isSignedByItself()) throw new Error('the signature of the request is invalid');
  const now = clock.now();
  const fromMs = now - BACKDATE_MS;
  const untilMs = Math.min(fromMs + lifetimeMs, authority.notAfterMs);
  if (now >= authority.notAfterMs) throw new Error('the CA certificate has expired');
  if (now >= untilMs) throw new Error('the certificate would have expired already');
  const attributes = subjectAttributes(request.attributes);
  return signedCertificate({
    subject: der.sequence(...attributes),
    issuer: authority.subject,
    publicKeyInfo: request.publicKeyInfo,
    validity: { fromMs, untilMs },
    signingKey: authority.privateKey,
    extensions: [
      ...usageExtensions(usages),
      extension(EXTENSION.basicConstraints, der.sequence(), 'critical'),
      ...(authority.keyIdentifier === undefined ? [] : [authorityKeyIdentifier(authority.keyIdentifier)]),
      ...alternativeNamesExtension(request.alternativeNames, attributes.length === 0),
    ],
  });
}

/** What a name in a certificate may say, in the order in which it does: identifiers in hexadecimal, and in dotted form. */
const NAME_PARTS: readonly (readonly [hex: string, dotted: string])[] = [
  ['550406', '2.5.4.6'],
  ['55040a', '2.5.4.10'],
  ['55040b', '2.5.4.11'],
  ['550407', '2.5.4.7'],
  ['550408', '2.5.4.8'],
  ['550409', '2.5.4.9'],
  ['550411', '2.5.4.17'],
  ['550403', '2.5.4.3'],
  ['550405', '2.5.4.5'],
];
/** Stand once in a name: of several the last one counts. Were all of them kept, another reader might take the first. */
const SINGLE: ReadonlySet<string> = new Set(['550403', '550405']);

function subjectAttributes(attributes: readonly NameAttribute[]): readonly Buffer[] {
  return NAME_PARTS.flatMap(([hex, dotted]) => {
    const texts = attributes.filter(({ id }) => id === hex).map(({ text }) => text);
    const taken = SINGLE.has(hex) ? texts.slice(-1) : texts;
    return taken.filter((text) => text !== '').map((text) => nameAttribute(dotted, text));
  });
}

function usageExtensions(usages: readonly string[]): readonly Buffer[] {
  const unknown = usages.filter((usage) => !KEY_USAGES.has(usage) && !EXTENDED_USAGES.has(usage));
  if (unknown.length > 0) throw new Error(`unknown usages: ${unknown.join(', ')}`);
  const bits = new Set(usages.flatMap((usage) => KEY_USAGES.get(usage) ?? []));
  const purposes = new Set(
    [...EXTENDED_USAGES].flatMap(([usage, purpose]) => (usages.includes(usage) ? [purpose] : [])),
  );
  return [
    ...(bits.size === 0 ? [] : [extension(EXTENSION.keyUsage, der.namedBits([...bits]), 'critical')]),
    ...(purposes.size === 0
      ? []
      : [
          extension(
            EXTENSION.extendedKeyUsage,
            der.sequence(...[...purposes].map((purpose) => der.objectIdentifier(purpose))),
          ),
        ]),
  ];
}

/** Critical where there is no other name. */
function alternativeNamesExtension(names: AlternativeNames, isOnlyName: boolean): readonly Buffer[] {
  const texts = (tag: number, values: readonly string[]): readonly Buffer[] =>
    values.map((value) => der.implicit(tag, Buffer.from(value, 'latin1')));
  const all = [
    ...texts(GENERAL_NAME.dns, names.dns),
    ...texts(GENERAL_NAME.email, names.email),
    ...names.ip.map((address) => der.implicit(GENERAL_NAME.ip, address)),
    ...texts(GENERAL_NAME.uri, names.uri),
  ];
  if (all.length === 0) return [];
  return [extension(EXTENSION.subjectAltName, der.sequence(...all), isOnlyName ? 'critical' : undefined)];
}

const SUBJECT_KEY_IDENTIFIER = '551d0e';

function keyIdentifierOf(wrapper: DerValue | undefined): Buffer | undefined {
  if (wrapper === undefined) return undefined;
  const [list] = derValues(wrapper.content);
  const extensions = derChildren(list, DER_TAG.sequence).map((each) => derChildren(each, DER_TAG.sequence));
  const value = extensions
    .find(([id]) => id?.content.toString('hex') === SUBJECT_KEY_IDENTIFIER)
    ?.at(-1)?.content;
  return value === undefined ? undefined : derValues(value)[0]?.content;
}
