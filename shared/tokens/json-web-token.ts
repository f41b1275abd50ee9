import { JWSSignatureVerificationFailed } from 'jose/errors';
import { flattenedVerify } from 'jose/jws/flattened/verify';
import { SignJWT } from 'jose/jwt/sign';
import { repeatedKeys } from '../meta/repeated-keys';
import type { SigningKey, TokenKey } from './token-key';

/** The claims of a token (RFC 7519), as it says them: nothing is believed before the signature is verified. */
export interface Claims {
  readonly iss?: unknown;
  readonly sub?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
  readonly iat?: unknown;
  readonly [claim: string]: unknown;
}

/** A parsed token in compact form. */
export interface ParsedToken {
  readonly algorithm: string;
  /** Empty when the token names no key. */
  readonly keyId: string;
  readonly claims: Claims;
  /** The claims, or an object in them, repeat a member; `claims` has the last one. */
  readonly repeatsClaims: boolean;
  /** The signed part of the token. */
  readonly signed: string;
  readonly signature: Buffer;
}

/** Signs claims with the key's algorithm. Elliptic signatures take a tenth of a millisecond, RSA three times as long. */
export async function signToken(key: SigningKey, claims: Readonly<Record<string, unknown>>): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: key.algorithm, kid: key.keyId })
    .sign(key.privateKey);
}

/** One more than a token has: a client without credentials chooses the number of dots. */
const PARTS_MAX = 4;

/**
 * Parses a token; returns undefined for other text, a header with repeated members, or unknown critical extensions. The library would
 * accept the latter two and alternative spellings.
 */
export function parseToken(token: string): ParsedToken | undefined {
  const [head, body, tail, ...more] = token.split('.', PARTS_MAX);
  if (head === undefined || body === undefined || tail === undefined || more.length > 0) return undefined;
  const header = objectOf(head);
  const claims = objectOf(body);
  const signature = bytesOf(tail);
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  const { alg: algorithm, kid: keyId = '', crit } = header.object;
  if (typeof algorithm !== 'string' || typeof keyId !== 'string' || crit !== undefined) return undefined;
  if (header.isRepeating) return undefined;
  return {
    algorithm,
    keyId,
    claims: claims.object,
    repeatsClaims: claims.isRepeating,
    signed: `${head}.${body}`,
    signature,
  };
}

/**
 * Reports whether one of the keys made the signature. The key determines the algorithm, never the token. The key that the token names is
 * tried first.
 */
export async function isSignedByOneOf(token: ParsedToken, keys: readonly TokenKey[]): Promise<boolean> {
  const candidates = keys.filter(({ algorithm }) => algorithm === token.algorithm);
  const named = candidates.filter(({ keyId }) => keyId === token.keyId);
  for (const key of [...named, ...candidates.filter((each) => !named.includes(each))]) {
    if (await isSignedBy(token, key)) return true;
  }
  return false;
}

async function isSignedBy({ signed, signature }: ParsedToken, key: TokenKey): Promise<boolean> {
  const [head = '', body = ''] = signed.split('.');
  const token = { protected: head, payload: body, signature: signature.toString('base64url') };
  try {
    await flattenedVerify(token, key.publicKey, { algorithms: [key.algorithm] });
    return true;
  } catch (error) {
    if (error instanceof JWSSignatureVerificationFailed) return false;
    throw error;
  }
}

/** Undefined unless the text is the one way to write its bytes: a token has one spelling. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function objectOf(text: string): { readonly object: Claims; readonly isRepeating: boolean } | undefined {
  const json = bytesOf(text)?.toString('utf8');
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { object: { ...value }, isRepeating: repeatedKeys(json, 1).length > 0 };
  } catch {
    return undefined;
  }
}
