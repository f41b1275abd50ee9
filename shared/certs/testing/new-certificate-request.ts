import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, sign } from 'node:crypto';
import * as der from '../der';
import { EXTENSION, extension, GENERAL_NAME, NAME_ATTRIBUTE, nameAttribute } from '../signed-certificate';

export interface NewRequestOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** Parts of the subject that stand before the others: object identifier and text. */
  readonly names?: readonly (readonly [oid: string, text: string])[];
  readonly dns?: readonly string[];
  readonly email?: readonly string[];
  readonly ip?: readonly Buffer[];
  readonly uri?: readonly string[];
  /** Asked for besides the further names: whole extensions. */
  readonly extensions?: readonly Buffer[];
  /** Signs in the place of the request's own key (elliptic). */
  readonly signingKey?: KeyObject;
  readonly keyType?: 'ec' | 'rsa' | 'ed25519';
  /** Elliptic ones; absent: new ones of the type. */
  readonly keys?: Pick<NewRequest, 'privateKey' | 'publicKey'>;
}

export interface NewRequest {
  readonly pem: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const OID = {
  extensionRequest: '1.2.840.113549.1.9.14',
  ecdsa: '1.2.840.10045.4.3.2',
  rsa: '1.2.840.113549.1.1.11',
  ed25519: '1.3.101.112',
} as const;

const ALGORITHM = {
  ec: { identifier: der.sequence(der.objectIdentifier(OID.ecdsa)), hash: 'sha256' },
  rsa: { identifier: der.sequence(der.objectIdentifier(OID.rsa), der.nothing()), hash: 'sha256' },
  ed25519: { identifier: der.sequence(der.objectIdentifier(OID.ed25519)), hash: null },
} as const;

/** A certificate signing request with a new key. */
export function newCertificateRequest(options: NewRequestOptions = {}): NewRequest {
  const { commonName, organizations = [], names = [], keyType = 'ec' } = options;
  const { publicKey, privateKey } = options.keys ?? newKeys(keyType);
  const subject = der.sequence(
    ...names.map(([oid, text]) => nameAttribute(oid, text)),
    ...organizations.map((text) => nameAttribute(NAME_ATTRIBUTE.organization, text)),
    ...(commonName === undefined ? [] : [nameAttribute(NAME_ATTRIBUTE.commonName, commonName)]),
  );
  const extensions = [...alternativeNames(options), ...(options.extensions ?? [])];
  const attributes = [der.objectIdentifier(OID.extensionRequest), der.set(der.sequence(...extensions))];
  const info = der.sequence(
    der.integer(0),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(0, extensions.length === 0 ? Buffer.alloc(0) : der.sequence(...attributes)),
  );
  const { identifier, hash } = ALGORITHM[keyType];
  const signature = der.bitString(sign(hash, info, options.signingKey ?? privateKey));
  const lines = der
    .sequence(info, identifier, signature)
    .toString('base64')
    .match(/.{1,64}/g);
  const text = (lines ?? []).join('\n');
  return {
    pem: `-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----\n`,
    privateKey,
    publicKey,
  };
}

function newKeys(keyType: 'ec' | 'rsa' | 'ed25519'): {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
} {
  if (keyType === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return keyType === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('ed25519');
}

function alternativeNames({ dns = [], email = [], ip = [], uri = [] }: NewRequestOptions): readonly Buffer[] {
  const texts = (tag: number, values: readonly string[]): readonly Buffer[] =>
    values.map((value) => der.implicit(tag, Buffer.from(value)));
  const all = [
    ...texts(GENERAL_NAME.dns, dns),
    ...texts(GENERAL_NAME.email, email),
    ...ip.map((bytes) => der.implicit(GENERAL_NAME.ip, bytes)),
    ...texts(GENERAL_NAME.uri, uri),
  ];
  return all.length === 0 ? [] : [extension(EXTENSION.subjectAltName, der.sequence(...all))];
}
