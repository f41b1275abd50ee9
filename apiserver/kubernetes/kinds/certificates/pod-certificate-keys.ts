import type { KeyObject } from 'node:crypto';
import { constants, createPublicKey, verify } from 'node:crypto';
import type { CertificateRequest } from '../../../../shared/certs/certificate-request';
import {
  CertificateRequestError,
  parseCertificateRequest,
} from '../../../../shared/certs/certificate-request';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, tooLong } from '../../../../shared/errors/field-error';
import { goBytes } from '../../../../shared/errors/go-values';

const BYTES_MAX = 10 * 1024;
const CURVES: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const MODULUS_BITS: readonly number[] = [3072, 4096];
const REQUEST = 'spec.stubPKCS10Request';
const KEY = 'spec.pkixPublicKey';
const PROOF = 'spec.proofOfPossession';

/** Validates a PKCS #10 request (DER): its kind of key, and that the key made its signature. */
export function requestedKeyErrors(request: Buffer): FieldError[] {
  if (request.length > BYTES_MAX) return [tooLong(REQUEST, '', BYTES_MAX)];
  const parsed = parseRequest(request);
  const key = parsed && parseKey(parsed.publicKeyInfo);
  if (parsed === undefined || key === undefined) {
    return [invalid(REQUEST, undefined, 'must be a valid PKCS#10 CSR')];
  }
  const problem = keyProblem(key);
  if (problem !== undefined) return [invalid(REQUEST, undefined, problem)];
  return isSignedByItself(parsed) ? [] : [invalid(REQUEST, undefined, 'invalid signature')];
}

/** Validates a public key (SubjectPublicKeyInfo, DER) and its signature of the pod's UID. */
export function provenKeyErrors({
  key: bytes,
  proof,
  podUid,
}: {
  readonly key: Buffer;
  readonly proof: Buffer;
  readonly podUid: string;
}): FieldError[] {
  if (bytes.length > BYTES_MAX) return [tooLong(KEY, '', BYTES_MAX)];
  if (proof.length > BYTES_MAX) return [tooLong(PROOF, '', BYTES_MAX)];
  const key = parseKey(bytes);
  if (key === undefined) {
    return [invalid(KEY, goBytes(bytes.toString('base64')), 'must be a valid PKIX-serialized public key')];
  }
  const problem = keyProblem(key);
  if (problem !== undefined) return [invalid(KEY, undefined, problem)];
  return provesPossession(key, proof, podUid)
    ? []
    : [invalid(PROOF, undefined, 'could not verify proof-of-possession signature')];
}

/** Returns the key that a request asks a certificate for (SubjectPublicKeyInfo, DER); undefined if it is malformed. */
export function requestedKey(spec: {
  readonly stubPKCS10Request: string | null;
  readonly pkixPublicKey: string | null;
}): Buffer | undefined {
  const request = Buffer.from(spec.stubPKCS10Request ?? '', 'base64');
  return request.length > 0
    ? parseRequest(request)?.publicKeyInfo
    : Buffer.from(spec.pkixPublicKey ?? '', 'base64');
}

function parseRequest(der: Buffer): CertificateRequest | undefined {
  try {
    const type = 'CERTIFICATE REQUEST';
    return parseCertificateRequest(
      `-----BEGIN ${type}-----\n${der.toString('base64')}\n-----END ${type}-----\n`,
    );
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}

/** The parser throws for algorithms and keys that are not accepted. */
function isSignedByItself(request: CertificateRequest): boolean {
  try {
    return request.isSignedByItself();
  } catch {
    return false;
  }
}

function parseKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function keyProblem({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): string | undefined {
  if (type === 'ec') {
    const isKnown = CURVES.includes(details?.namedCurve ?? '');
    return isKnown ? undefined : 'elliptic public keys must use curve P256, P384, or P521';
  }
  if (type === 'rsa') {
    const isLong = MODULUS_BITS.includes(details?.modulusLength ?? 0);
    return isLong ? undefined : 'RSA keys must have modulus size 3072 or 4096';
  }
  return type === 'ed25519'
    ? undefined
    : 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';
}

function provesPossession(key: KeyObject, proof: Buffer, podUid: string): boolean {
  const data = Buffer.from(podUid);
  if (key.asymmetricKeyType === 'ed25519') return verify(null, data, key, proof);
  const padding =
    key.asymmetricKeyType === 'rsa'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
      : {};
  return verify('sha256', data, { key, ...padding }, proof);
}
