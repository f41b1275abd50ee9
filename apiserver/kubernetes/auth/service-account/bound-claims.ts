import type { Claims } from '../../../../shared/tokens/json-web-token';
import { ACCOUNT_TOKEN } from '../../../../shared/names';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';
import type { Reference } from './account-user';

/** What a token of a service account says. Times are milliseconds since the epoch, undefined where the token says none. */
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

/** What is particular to these tokens; `claimsOf` writes it. */
interface OwnClaims {
  readonly namespace: string;
  readonly serviceaccount: Reference;
  readonly pod: Reference;
  readonly secret: Reference;
  readonly warnafter: number;
}

/** Undefined for claims of other types than they must have. */
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
    account: account ?? NOBODY,
    pod,
    secret,
  };
}

const SECOND_MS = 1_000;

/** Null for what is no time. Seconds may have fractions. */
function timeOf(value: unknown): number | undefined | null {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? value * SECOND_MS : null;
}

/** One audience, a list of them, or none. */
function audiencesOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.every((each) => typeof each === 'string') ? list : undefined;
}

const NOBODY: Reference = { name: '', uid: '' };

/** Null for what is none: a token whose pod cannot be read must not pass for one that is bound to no pod. */
function referenceOf(value: unknown): Reference | undefined | null {
  if (value === undefined || value === null) return undefined;
  const { name = '', uid = '' } = fieldsOf<Reference>(value);
  const isOne = optionalRecord(value) !== undefined && typeof name === 'string' && typeof uid === 'string';
  return isOne ? { name, uid } : null;
}
