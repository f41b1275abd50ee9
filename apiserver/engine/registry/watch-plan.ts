import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, notSupported } from '../../../shared/errors/field-error';
import type { ListQuery, ReadPlan } from './list-plan';
import { checkListOptions, invalidListOptions, parseRevision } from './list-plan';

/** Where a watch begins. */
export type WatchPlan =
  /** With the state as ADDED events, at least as fresh as `read` asks; `announcesEnd` marks their end with a bookmark. */
  | { readonly kind: 'state'; readonly read: ReadPlan; readonly announcesEnd: boolean }
  /** With the first change after this revision. */
  | { readonly kind: 'after'; readonly revision: number }
  /** With the next change after a state at least as fresh as `read` asks. */
  | { readonly kind: 'changes'; readonly read: ReadPlan };

const NOT_OLDER_THAN = 'NotOlderThan';

/**
 * The plan of a watch whose options are checked, from the specification's table of resource versions, and for streaming lists (`sendInitialEvents`) as newer
 * servers read it. Throws BadRequest for a resourceVersion that is no number.
 */
export function planWatch(query: ListQuery): WatchPlan {
  const { sendInitialEvents } = query;
  const revision = query.resourceVersion === '' ? undefined : parseRevision(query.resourceVersion);
  if (sendInitialEvents === true) return { kind: 'state', read: stateRead(revision), announcesEnd: true };
  if (revision !== undefined && revision > 0) return { kind: 'after', revision };
  const read: ReadPlan = revision === undefined ? { kind: 'most recent' } : { kind: 'any' };
  return sendInitialEvents === false
    ? { kind: 'changes', read }
    : { kind: 'state', read, announcesEnd: false };
}

function stateRead(revision: number | undefined): ReadPlan {
  if (revision === undefined) return { kind: 'most recent' };
  return revision === 0 ? { kind: 'any' } : { kind: 'not older than', revision };
}

/**
 * Validates the options of a watch. resourceVersionMatch is only allowed with sendInitialEvents, for the
 * freshness of the initial state. Throws Invalid (422), with the message texts of v1.21 if sendInitialEvents
 * is absent.
 */
export function checkWatchOptions(query: ListQuery): void {
  if (query.sendInitialEvents === undefined) {
    checkListOptions(query, ['resourceVersionMatch is forbidden for watch']);
    return;
  }
  const { resourceVersionMatch: match } = query;
  const field = 'resourceVersionMatch';
  const errors: FieldError[] = [];
  if (match !== NOT_OLDER_THAN) {
    errors.push(forbiddenField(field, `sendInitialEvents requires setting ${field} to ${NOT_OLDER_THAN}`));
    if (match !== '') errors.push(notSupported(field, match, [NOT_OLDER_THAN]));
  }
  if (match !== '' && query.continue !== '') {
    errors.push(forbiddenField(field, `${field} is forbidden when continue is provided`));
  }
  if (errors.length > 0) throw invalidListOptions(errors);
}
