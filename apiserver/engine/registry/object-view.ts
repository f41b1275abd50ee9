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
 * Shows a part of an object as an object of another kind, through which that part can be changed. `T` is the stored version of the kind,
 * `Shown` the kind that is shown; who calls a view knows neither, which methods allow and functions in properties would not.
 */
export interface ObjectView<T extends ApiObject = ApiObject, Shown extends ApiObject = ApiObject> {
  show(object: T): Shown;
  /** Why what is shown of an object cannot be read, although it can be changed. */
  whyHidden?(shown: Shown): Error | undefined;
  /** The object with what the shown one says. Throws Invalid. */
  merge(shown: Shown, object: T): T;
  /**
   * The kind's strategy has a row for the subresource, which prepares and validates the object instead of the kind's own rules.
   * Default: the change is like one of the object itself.
   */
  readonly hasStrategy?: boolean;
  /** What is not found where the object is missing. Default: the subresource, in the group of the object. */
  readonly missing?: 'object' | { readonly group: string };
  /** Whether configurations of the shown kind can be applied. */
  readonly canApply?: boolean;
  /** Whether a uid is a precondition in a PUT alone, and without effect in what a patch makes of the shown object. */
  readonly patchesKeepUid?: boolean;
}

const shownEndpoints = new WeakMap<SubresourceRow, Endpoint>();

/** The endpoint as bodies and answers see it: of the subresource's kind. */
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
 * Changes an object through a view of it. `change` makes the next shown object from the current one; admission judges shown objects.
 * Everything else is that of an update of the object itself, but that its managedFields stay as they are: who owns what is not tracked
 * where a request does not bring the resource's own kind.
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
    // A uid in the shown object is a precondition, as it is in a PUT.
    options: { creates: 'kind' },
    view: {
      request: untracked,
      show: (object) => view.show(object),
      merge: (shown, object) => view.merge(shown, object),
    },
  };
  return updateObject(context, through, write, signal);
}

/** A configuration of the shown kind, and the endpoint as it is shown. */
export interface AppliedView {
  readonly view: ObjectView;
  readonly shown: Endpoint;
  readonly apply: Pick<ApplyRequest, 'config' | 'force' | 'read'>;
}

/**
 * Applies a configuration of the shown kind. What is shown has no managedFields, so that all of it is found to belong to nobody
 * known: a value that differs is a conflict, unless it is forced, and the object's managedFields stay as they are.
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
