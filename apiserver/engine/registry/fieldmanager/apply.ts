import { isInForce } from '../../../../shared/api/changes';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import { formatTime } from '../../../../shared/meta/time';
import { badRequest, StatusError } from '../../../../shared/errors/status-error';
import { computeAppliedSet, ShapeError } from '../../../../shared/fieldset/applied';
import { ownsExactly } from '../../../../shared/fieldset/same-ownership';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import {
  equalSets,
  hasPath,
  intersection,
  isEmptySet,
  listPaths,
  recursiveDifference,
} from '../../../../shared/fieldset/field-set';
import { mergeConfig } from '../../../../shared/fieldset/merge';
import type { Entry } from './entries';
import { BEFORE_FIRST_APPLY, compareText, storedEntries, withEntries, withManagedFields } from './entries';
import { ownedByLastApplied, refreshLastApplied } from './last-applied';
import type { FieldWriter, ManagedKind } from './managed-kind';
import { ChangesByVersion, hasForgotten, reconcileEntries, takeAway } from './owned-fields';
import { prune } from './prune';
import { trackUpdate } from './track-update';
import { displayPath } from '../../../../shared/fieldset/path-element';

/** The manager that takes over from client-side apply without conflicts. */
const CLIENT_MANAGER = 'kubectl';

export interface ApplyRequest {
  readonly kind: ManagedKind;
  /** As stored, in the request's version; undefined when apply creates the object. */
  readonly live: ApiObject | undefined;
  /** The configuration, of the kind and version of the request. */
  readonly config: ApiObject;
  readonly writer: FieldWriter;
  readonly force: boolean;
  /** Reads a merged object as the request's version: checks types, writes canonical values, fills in defaults. */
  readonly read: (merged: object) => ApiObject;
}

/**
 * Server-side apply: merges the configuration into the live object. The applier then owns exactly what it
 * applied; fields that it applied last time, not this time, and that no other manager owns are removed.
 * Throws BadRequest for a configuration that does not fit the kind or a live object that cannot be tracked
 * or merged, and Conflict when it changes fields of others and `force` is not set.
 */
export function applyConfiguration(request: ApplyRequest): ApiObject {
  const { kind, config, writer } = request;
  if (config.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const live = liveOf(request);
  const entries = reconcileEntries(kind, storedEntries(live.metadata));
  const isLive = request.live === live && !hasForgotten(kind, live.metadata.managedFields);
  const last = entries.find((entry) => isApplierOf(writer, entry));
  const said = setOfConfig(kind, config, last);
  const set = recursiveDifference(said, kind.ignored);
  const own: Entry = {
    manager: writer.manager,
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    subresource: writer.subresource,
    time: last?.time,
    set,
  };
  const others = entries.filter((entry) => entry !== last);
  const bare = withManagedFields(live, undefined);
  const merged = mergedWith(kind, bare, config);
  if (merged === bare && isLive && isSameOwnership(last, own)) {
    return refreshLastApplied(request, live);
  }
  const pruned = prune({ kind, merged, last, owners: [...others, own] });
  const changes = new ChangesByVersion(kind, bare, pruned);
  if (!request.force) refuseConflicts(request, conflictsOf(others, changes));
  const after = [...takeAway(others, changes), ...(isEmptySet(set) ? [] : [own])];
  // A change of reset fields alone is no change and is not validated further: the updater of upstream
  // compares without them.
  const isOther =
    request.live === undefined ||
    !isEmptySet(changes.own.touched) ||
    !deepEqual(pruned.metadata, bare.metadata);
  const isChange = set === said || isOther;
  const result = isChange ? withManagedFields(request.read(pruned), undefined) : bare;
  const next = refreshLastApplied(request, result);
  // An apply that changes nothing but owners has no time of its own.
  const isTimed = isOther || !isInForce('unchangedAppliesKeepTimes');
  // The write keeps the time if nothing else changes.
  const timed = isTimed ? { ...own, time: formatTime(writer.nowMs) } : own;
  return withEntries(
    next,
    after.map((entry) => (entry === own ? timed : entry)),
  );
}

/** The fields of the configuration, including reset fields. */
function setOfConfig(kind: ManagedKind, config: ApiObject, last: Entry | undefined): FieldSet {
  if (last?.apiVersion === kind.apiVersion && ownsExactly(kind.shape, config, last.set)) {
    return last.set;
  }
  try {
    return computeAppliedSet(kind.shape, config);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw badRequest(`failed to create typed patch object: ${error.message}`, error);
  }
}

/** The fields of an object without managedFields belong to the manager `before-first-apply`. */
function liveOf({ kind, live, writer }: ApplyRequest): ApiObject {
  if (live === undefined) return kind.blank;
  if ((live.metadata.managedFields ?? []).length > 0) return live;
  const owned = trackUpdate(kind, undefined, live, { ...writer, manager: BEFORE_FIRST_APPLY });
  if (owned.metadata.managedFields === undefined) refuseUnnamed(kind, live);
  return owned;
}

/**
 * Throws BadRequest for an object with list items that have no key: it cannot be tracked or applied to until
 * an update fixes them.
 */
function refuseUnnamed(kind: ManagedKind, live: ApiObject): void {
  const error = misshapen(kind, live);
  if (error === undefined) return;
  const what = `(${kind.apiVersion}, Kind=${live.kind ?? ''})`;
  const why = `failed to convert new object ${what} to smd typed: ${error.message}`;
  throw badRequest(`failed to create manager for existing fields: ${why}`, error);
}

/**
 * For a tracked object, only the lists in the configuration must be valid; upstream requires it of all
 * lists.
 */
function mergedWith(kind: ManagedKind, live: ApiObject, config: ApiObject): ApiObject {
  try {
    return mergeConfig(kind.shape, live, config) as unknown as ApiObject;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const { message } = misshapen(kind, live) ?? error;
    throw badRequest(`failed to create typed live object: ${message}`, error);
  }
}

function misshapen(kind: ManagedKind, object: ApiObject): ShapeError | undefined {
  try {
    computeAppliedSet(kind.shape, object);
    return undefined;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    return error;
  }
}

function isApplierOf({ manager, subresource }: FieldWriter, entry: Entry): boolean {
  return entry.operation === 'Apply' && entry.manager === manager && entry.subresource === subresource;
}

function conflictsOf(others: readonly Entry[], changes: ChangesByVersion): readonly Conflict[] {
  return others.flatMap((entry) => {
    const change = changes.in(entry.apiVersion);
    const set = change === undefined ? undefined : intersection(entry.set, change.changed);
    return set === undefined ? [] : listPaths(set).map((path) => ({ entry, path }));
  });
}

/** `kubectl` may change fields that client-side apply set last and that no manager changed since. */
function refuseConflicts({ kind, live, writer }: ApplyRequest, conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const allowed =
    writer.manager === CLIENT_MANAGER && live !== undefined ? ownedByLastApplied(kind, live) : undefined;
  const left = allowed === undefined ? conflicts : conflicts.filter(({ path }) => !hasPath(allowed, path));
  if (left.length > 0) throw applyConflict(left);
}

function isSameOwnership(last: Entry | undefined, own: Entry): boolean {
  if (last === undefined) return isEmptySet(own.set);
  return last.apiVersion === own.apiVersion && equalSets(last.set, own.set);
}

/** A field that an apply would change and another manager owns. */
interface Conflict {
  readonly entry: Entry;
  readonly path: readonly string[];
}

/** Maximum number of listed causes; the message has the total. */
const CONFLICT_CAUSES_MAX = 1_000;

/** The 409 of an apply, with one cause for each field that names the other manager. */
function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const listed = conflicts.slice(0, CONFLICT_CAUSES_MAX);
  return new StatusError('Conflict', messageOf(conflicts), {
    details: {
      causes: listed.map(({ entry, path }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${nameOf(entry)}`,
        field: displayPath(path),
      })),
    },
  });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${nameOf(only.entry)}: ${displayPath(only.path)}`;
  }
  const byManager = new Map<string, string[]>();
  for (const { entry, path } of conflicts.slice(0, CONFLICT_CAUSES_MAX)) {
    const name = nameOf(entry);
    const paths = byManager.get(name) ?? [];
    byManager.set(name, paths);
    paths.push(`- ${displayPath(path)}`);
  }
  const lines = [...byManager]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths]);
  return `Apply failed with ${String(conflicts.length)} conflicts: ${lines.join('\n')}`;
}

function nameOf({ manager, operation, apiVersion, subresource }: Entry): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const name = JSON.stringify(manager) + through;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
