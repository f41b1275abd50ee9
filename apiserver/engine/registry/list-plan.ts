import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest } from '../../../shared/errors/status-error';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalidObject, notSupported } from '../../../shared/errors/field-error';
import { GROUP } from '../../../shared/names';
import type { ContinueToken } from './continue-token';
import { decodeContinueToken } from './continue-token';

/** The version of the state that a get or list reads. */
export type ReadPlan =
  | { readonly kind: 'most recent' }
  | { readonly kind: 'any' }
  | { readonly kind: 'not older than'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

export interface ListPlan {
  readonly read: ReadPlan;
  /** Absent: no limit. */
  readonly limit: number | undefined;
  /** Start after this key, relative to the prefix of the request. */
  readonly after: string | undefined;
}

export interface ListQuery {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  /** For watches: the duration; 0 or undefined is the default of the server, negative values end at once. */
  readonly timeoutSeconds: number | undefined;
  /**
   * For watches. Undefined: resourceVersion decides. True: initial events, whatever the version. False: no
   * initial events.
   */
  readonly sendInitialEvents: boolean | undefined;
}

const MATCHES = ['Exact', 'NotOlderThan'] as const;

const UINT64_MAX = 2n ** 64n - 1n;

/**
 * Parses a resourceVersion. Values beyond the safe integers are all in the future and become the largest
 * one. Throws BadRequest if it is not an unsigned 64-bit integer.
 */
export function parseRevision(text: string): number {
  if (text === '0') return 0;
  if (!/^[0-9]+$/.test(text)) throw invalidRevision(text, 'invalid syntax');
  const digits = text.replace(/^0+(?=.)/, '');
  if (digits.length > UINT64_DIGITS || BigInt(digits) > UINT64_MAX) {
    throw invalidRevision(text, 'value out of range');
  }
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

const UINT64_DIGITS = String(UINT64_MAX).length;

function invalidRevision(text: string, why: string): StatusError {
  const quoted = JSON.stringify(text);
  return badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
  );
}

/** The plan of a get: unset is Most Recent, `0` is Any, another value Not older than. */
export function planGet(resourceVersion: string): ReadPlan {
  if (resourceVersion === '') return { kind: 'most recent' };
  const revision = parseRevision(resourceVersion);
  return revision === 0 ? { kind: 'any' } : { kind: 'not older than', revision };
}

/**
 * The plan of a list whose options are checked, from the specification's table of resourceVersion, resourceVersionMatch, limit and
 * continue. Throws BadRequest (400) for a token that cannot be used.
 */
export function planList(query: ListQuery): ListPlan {
  const limit = query.limit > 0 ? query.limit : undefined;
  if (query.continue !== '') return planContinuation(query, limit);
  return { read: planFirstPage(query, limit), limit, after: undefined };
}

function planFirstPage(query: ListQuery, limit: number | undefined): ReadPlan {
  if (query.resourceVersion === '') return { kind: 'most recent' };
  const revision = parseRevision(query.resourceVersion);
  if (revision === 0) return { kind: 'any' };
  const exact =
    query.resourceVersionMatch === 'Exact' || (query.resourceVersionMatch === '' && limit !== undefined);
  return exact ? { kind: 'exact', revision } : { kind: 'not older than', revision };
}

function planContinuation(query: ListQuery, limit: number | undefined): ListPlan {
  const token: ContinueToken = decodeContinueToken(query.continue);
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const read: ReadPlan =
    token.revision === undefined ? { kind: 'most recent' } : { kind: 'exact', revision: token.revision };
  return { read, limit, after: token.after };
}

/**
 * Throws Invalid for options of a list that contradict each other. `forbidden` has the reasons why
 * resourceVersionMatch is not allowed at all.
 */
export function checkListOptions(query: ListQuery, forbidden: readonly string[] = []): void {
  const isMatching = query.resourceVersionMatch !== '';
  const errors = [
    ...(isMatching ? forbidden.map((why) => forbiddenField('resourceVersionMatch', why)) : []),
    ...matchErrors(query),
  ];
  if (query.sendInitialEvents !== undefined) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (errors.length > 0) throw invalidListOptions(errors);
}

function matchErrors({ resourceVersion, resourceVersionMatch: match, ...query }: ListQuery): FieldError[] {
  const field = 'resourceVersionMatch';
  const errors: FieldError[] = [];
  if (match === '') return errors;
  if (resourceVersion === '') {
    errors.push(forbiddenField(field, `${field} is forbidden unless resourceVersion is provided`));
  }
  if (query.continue !== '') {
    errors.push(forbiddenField(field, `${field} is forbidden when continue is provided`));
  }
  if (!MATCHES.some((each) => each === match)) errors.push(notSupported(field, match, [...MATCHES, '']));
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbiddenField(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  }
  return errors;
}

/** Invalid (422) on ListOptions. */
export function invalidListOptions(errors: readonly FieldError[]): StatusError {
  return invalidObject({ group: GROUP.meta, kind: 'ListOptions' }, '', errors);
}
