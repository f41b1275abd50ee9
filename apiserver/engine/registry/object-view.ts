import { getDefaults } from '../../../shared/defaults/defaults';
import type { SubresourceRow } from '../../../shared/api/resources';
import { defined } from '../../../shared/defined';
import type { ApplyRequest } from './fieldmanager/apply';
import { notFound } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { kindType } from '../../../shared/schema/types';
import type { Change } from './write-attempt';
import { applied, tracked } from './field-tracking';
import { storedEntries, withEntries } from './fieldmanager/entries';
import type { FieldPath, ShownField } from './fieldmanager/shown-owners';
import { ownersOfObject, ownersOfShown } from './fieldmanager/shown-owners';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import type { Endpoint } from './resource';
import type { Update } from './update';
import { updateObject } from './update';
import type { Written } from './write';

/**
 * Shows a part of an object as an object of another kind, through which that part can be changed. `T` is the
 * stored version of the kind, `Shown` the kind that is shown. These are methods, not function properties, so
 * that callers need to know neither type.
 */
export interface ObjectView<T extends ApiObject = ApiObject, Shown extends ApiObject = ApiObject> {
  show(object: T): Shown;
  /** Why the shown object cannot be read, although it can be changed. */
  whyHidden?(shown: Shown): Error | undefined;
  /** Merges the shown object into the object. Throws Invalid. */
  merge(shown: Shown, object: T): T;
  /**
   * The strategy has a row for the subresource, which prepares and validates the object instead of the rules
   * of the kind. Default: the change is validated like a change of the object itself.
   */
  readonly hasStrategy?: boolean;
  /**
   * Which resource NotFound names if the object is missing. Default: the subresource, in the group of the
   * object.
   */
  readonly missing?: 'object' | { readonly group: string };
  /** Whether configurations of the shown kind can be applied. */
  readonly canApply?: boolean;
  /** The one field of the object that can be changed, and where the shown object has it. */
  readonly field?: { readonly path: FieldPath; readonly shownPath: FieldPath };
  /** A uid is a precondition in a PUT only; a patch of the shown object ignores it. */
  readonly patchesKeepUid?: boolean;
}

const shownEndpoints = new WeakMap<SubresourceRow, Endpoint>();

/** The endpoint of the subresource's kind, for decoding bodies and encoding responses. */
export function shownEndpoint(endpoint: Endpoint, subresource: SubresourceRow): Endpoint {
  const known = shownEndpoints.get(subresource);
  if (known !== undefined) return known;
  const { kind, version, schema } = subresource;
  const { conversion: _conversion, applyDefaults: _defaults, custom: _custom, table, ...rest } = endpoint;
  const applyDefaults = getDefaults(schema);
  const shown: Endpoint = {
    ...rest,
    row: { ...endpoint.row, kind, listKind: '', version, schema },
    apiVersion: apiVersionOf(subresource),
    type: kindType(schema),
    ...defined({ applyDefaults, table: kind === endpoint.row.kind ? table : undefined }),
  };
  shownEndpoints.set(subresource, shown);
  return shown;
}

export interface ChangedView {
  readonly view: ObjectView;
  readonly shown: Endpoint;
  /** Computes the next shown object from the current one. */
  readonly change: Change;
}

/** Changes an object through a view of it, by a PUT or a patch other than apply. */
export async function updateThroughView(
  context: WriteContext,
  request: WriteRequest,
  { view, shown, change }: ChangedView,
  signal: AbortSignal,
): Promise<Written> {
  const asShown = { ...request, endpoint: shown };
  const trackedChange: Change = (live) => tracked(context, asShown, { live, next: change(live) });
  return writeThroughView(context, request, { view, shown, change: trackedChange }, signal);
}

export interface AppliedView {
  readonly view: ObjectView;
  readonly shown: Endpoint;
  readonly apply: Pick<ApplyRequest, 'config' | 'force' | 'read'>;
}

/**
 * Applies a configuration of the shown kind. Where owners through subresources are not tracked, the shown
 * object has no managedFields: a different value is a conflict unless the apply is forced.
 */
export async function applyThroughView(
  context: WriteContext,
  request: WriteRequest,
  { view, shown, apply }: AppliedView,
  signal: AbortSignal,
): Promise<Written> {
  const subresource = context.subresourceOwners ? request.subresource : '';
  const asShown = { ...request, endpoint: shown, subresource };
  const change: Change = (live) => applied(context, asShown, { ...apply, live });
  return writeThroughView(context, request, { view, shown, change }, signal);
}

/**
 * Writes the object that a change of the shown object makes; admission sees shown objects. Otherwise it is an
 * update of the object itself. Owners of the shown field are owners of the object's field, if owners through
 * subresources are tracked; managedFields do not change otherwise.
 */
async function writeThroughView(
  context: WriteContext,
  request: WriteRequest,
  { view, shown, change }: ChangedView,
  signal: AbortSignal,
): Promise<Written> {
  const { manager: _unused, ...untracked } = request;
  const field = context.subresourceOwners ? shownFieldOf(request, view, shown) : undefined;
  const isTracked = context.subresourceOwners && field === undefined;
  const withRules = isTracked ? request : untracked;
  const through = view.hasStrategy === true ? withRules : { ...untracked, subresource: '' };
  const write: Update = {
    change: (current: ApiObject | undefined) => {
      if (current === undefined) throw notFound(request.endpoint.row, request.name);
      if (field === undefined) return view.merge(change(view.show(current)), current);
      const entries = storedEntries(current.metadata);
      const next = change(withEntries(view.show(current), ownersOfShown(field, entries)));
      const merged = view.merge(next, current);
      return withEntries(merged, ownersOfObject(field, entries, storedEntries(next.metadata)));
    },
    // A uid in the shown object is a precondition, as in a PUT.
    options: { creates: 'kind' },
    view: {
      request: untracked,
      show: (object) => view.show(object),
      merge: (shownObject, object) => view.merge(shownObject, object),
    },
  };
  return updateObject(context, through, write, signal);
}

/** Undefined for a view of more than one field: the fields themselves are tracked there. */
function shownFieldOf(
  { endpoint, subresource }: WriteRequest,
  { field }: ObjectView,
  shown: Endpoint,
): ShownField | undefined {
  if (field === undefined) return undefined;
  return {
    apiVersion: endpoint.apiVersion,
    shownVersion: shown.apiVersion,
    shownPath: field.shownPath,
    pathIn: (apiVersion) => {
      const version = endpoint.versions.get(apiVersion);
      if (version === undefined) return undefined;
      const special = version.specialSubresources?.[subresource];
      return special?.is === 'view' ? special.view.field?.path : NO_PATH;
    },
  };
}

const NO_PATH: FieldPath = [];
