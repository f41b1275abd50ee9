import type { StatusError } from '../../shared/errors/status-error';
import { badRequest } from '../../shared/errors/status-error';
import type { FieldError } from '../../shared/errors/field-error';
import { forbiddenField, invalidObject, notSupported } from '../../shared/errors/field-error';
import { GROUP } from '../../shared/names';
import type { ContinueToken } from './continue-token';
import { decodeContinueToken } from './continue-token';

/** The version of state that a get or list must be answered from. */
export type ReadPlan =
  | { readonly kind: 'most recent' }
  | { readonly kind: 'any' }
  | { readonly kind: 'not older than'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

export interface ListPlan {
  readonly read: ReadPlan;
  /** Absent: no limit. */
  readonly limit: number | undefined;
  /** Start behind this key, relative to the request's own prefix. */
  readonly after: string | undefined;
}

export interface ListQuery {
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
}

const MATCHES = ['Exact', 'NotOlderThan'] as const;

/** A resourceVersion as a number. Throws BadRequest for what is no unsigned integer. */
export function parseRevision(text: string): number {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw badRequest(`invalid resource version: ${JSON.stringify(text)}`);
  }
  return Number(text);
}

/** The plan of a get: unset is Most Recent, `0` is Any, another value Not older than. */
export function planGet(resourceVersion: string): ReadPlan {
  if (resourceVersion === '') return { kind: 'most recent' };
  const revision = parseRevision(resourceVersion);
  return revision === 0 ? { kind: 'any' } : { kind: 'not older than', revision };
}

/**
 * The plan of a list, from the specification's table of resourceVersion, resourceVersionMatch, limit and continue. Throws Invalid
 * (422) for a misuse of resourceVersionMatch and BadRequest (400) for a token that cannot be used.
 */
export function planList(query: ListQuery): ListPlan {
  checkMatch(query);
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

/** Throws Invalid for a resourceVersionMatch that says nothing, or that contradicts the other parameters. */
export function checkMatch({ resourceVersion, resourceVersionMatch: match, ...query }: ListQuery): void {
  if (match === '') return;
  const field = 'resourceVersionMatch';
  const errors: FieldError[] = [];
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
  if (errors.length > 0) throw invalidListOptions(errors);
}

/** Invalid (422) on ListOptions. */
export function invalidListOptions(errors: readonly FieldError[]): StatusError {
  return invalidObject({ group: GROUP.meta, kind: 'ListOptions' }, '', errors);
}
