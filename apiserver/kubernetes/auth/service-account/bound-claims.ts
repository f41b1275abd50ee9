import type { Claims } from '../../../../shared/tokens/json-web-token';
import { ACCOUNT_TOKEN } from '../../../../shared/names';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';
import type { Reference } from './account-user';

/** The claims of a service account token. Times are milliseconds since the epoch, undefined if absent. */
export interface BoundClaims {
  readonly audiences: readonly string[];
  readonly expiresAtMs: number | undefined;
  readonly notBeforeMs: number | undefined;
  readonly issuedAtMs: number | undefined;
  readonly warnAfterMs: number | undefined;
  readonly namespace: string;
  readonly account: Reference;
  readonly pod: Reference | undefined;
  readonly secret: Reference | undefined;
}

/** The private claims of these tokens, which `claimsOf` writes. */
interface OwnClaims {
  readonly namespace: string;
  readonly serviceaccount: Reference;
  readonly pod: Reference;
  readonly secret: Reference;
  readonly warnafter: number;
}

/** Parses the claims; undefined if one has the wrong type. */
export function boundClaimsOf(claims: Claims): BoundClaims | undefined {
  const { namespace, serviceaccount, ...own } = fieldsOf<OwnClaims>(claims[ACCOUNT_TOKEN.claim]);
  const { aud, exp, nbf, iat } = claims;
  const audiences = audiencesOf(aud);
  const times = [exp, nbf, iat, own.warnafter].map(timeOf);
  const references = [serviceaccount, own.pod, own.secret].map(referenceOf);
  if (audiences === undefined || times.includes(null) || references.includes(null)) return undefined;
  const [account, pod, secret] = references.map((reference) => reference ?? undefined);
  const [expiresAtMs, notBeforeMs, issuedAtMs, warnAfterMs] = times.map((time) => time ?? undefined);
  return {
    audiences,
    expiresAtMs,
    notBeforeMs,
    issuedAtMs,
    warnAfterMs: warnAfterMs === 0 ? undefined : warnAfterMs,
    namespace: text(namespace),
    account: account ?? NO_REFERENCE,
    pod,
    secret,
  };
}

const SECOND_MS = 1_000;

/** Parses a time in seconds, possibly with a fraction; null for another type. */
function timeOf(value: unknown): number | undefined | null {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? value * SECOND_MS : null;
}

/** Parses one audience, a list of audiences, or none. */
function audiencesOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.every((each) => typeof each === 'string') ? list : undefined;
}

const NO_REFERENCE: Reference = { name: '', uid: '' };

/** Parses a reference; null if malformed, because such a token must not pass as one that is not bound. */
function referenceOf(value: unknown): Reference | undefined | null {
  if (value === undefined || value === null) return undefined;
  const { name = '', uid = '' } = fieldsOf<Reference>(value);
  const isOne = optionalRecord(value) !== undefined && typeof name === 'string' && typeof uid === 'string';
  return isOne ? { name, uid } : null;
}
