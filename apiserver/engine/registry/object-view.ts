import { getDefaults } from '../../../shared/defaults/defaults';
import type { SubresourceRow } from '../../../shared/api/resources';
import { defined } from '../../../shared/defined';
import type { ApplyRequest } from './fieldmanager/apply';
import { notFound } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { kindType } from '../../../shared/schema/types';
import type { Change } from './write-attempt';
import { applied } from './field-tracking';
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

/**
 * Changes an object through a view of it. `change` makes the next shown object from the current one;
 * admission sees shown objects. Otherwise it is an update of the object itself, except that managedFields do
 * not change: fields are tracked only for requests with the resource's own kind.
 */
export async function updateThroughView(
  context: WriteContext,
  request: WriteRequest,
  { view, change }: { readonly view: ObjectView; readonly change: Change },
  signal: AbortSignal,
): Promise<Written> {
  const { manager: _unused, ...untracked } = request;
  const through = view.hasStrategy === true ? untracked : { ...untracked, subresource: '' };
  const write: Update = {
    change: (current: ApiObject | undefined) => {
      if (current === undefined) throw notFound(request.endpoint.row, request.name);
      return view.merge(change(view.show(current)), current);
    },
    // A uid in the shown object is a precondition, as in a PUT.
    options: { creates: 'kind' },
    view: {
      request: untracked,
      show: (object) => view.show(object),
      merge: (shown, object) => view.merge(shown, object),
    },
  };
  return updateObject(context, through, write, signal);
}

export interface AppliedView {
  readonly view: ObjectView;
  readonly shown: Endpoint;
  readonly apply: Pick<ApplyRequest, 'config' | 'force' | 'read'>;
}

/**
 * Applies a configuration of the shown kind. The shown object has no managedFields, so its fields have no
 * known owner: a different value is a conflict unless the apply is forced, and the object's managedFields do
 * not change.
 */
export async function applyThroughView(
  context: WriteContext,
  request: WriteRequest,
  { view, shown, apply }: AppliedView,
  signal: AbortSignal,
): Promise<Written> {
  const asShown = { ...request, endpoint: shown, subresource: '' };
  const change: Change = (live) => applied(context, asShown, { ...apply, live });
  return updateThroughView(context, request, { view, change }, signal);
}
