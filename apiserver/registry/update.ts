import type { ApiObject } from '../../shared/meta/object';
import { conflict, notFound } from '../../shared/errors/status-error';
import { invalid, invalidObject } from '../../shared/errors/field-error';
import { pathSegmentName } from '../../shared/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../shared/meta/validate-metadata';
import { admitNew } from './create';
import { isFinished } from './deletion';
import { desiredStateDiffers, metadataForUpdate } from './metadata';
import type { StoreContext, WriteRequest } from './object-store';
import { admit, writeTarget } from './object-store';
import type { SubresourceStrategy } from './strategy';
import { statusSubresource, withStatus } from './strategy';
import type { Intent, Written } from './write';
import { writeOptimistically } from './write';

/** Makes the next object from the current one; a PUT ignores it, a PATCH builds on it. Repeatable. Throws a StatusError to refuse. */
export type Change = (current: ApiObject | undefined) => ApiObject;

/** What a client may demand of an update. */
export interface UpdateOptions {
  /** A missing object is created, where the kind allows it (PUT alone). */
  readonly mayCreate: boolean;
}

/**
 * Replaces the object, or the part of it that the subresource shows. Refuses with NotFound, Conflict (a resourceVersion or uid in
 * the new object that is not the current one's), Invalid, or whatever admission says. The last finalizer's removal from a
 * terminating object removes the object.
 */
export async function updateObject(
  context: StoreContext,
  request: WriteRequest,
  { change, options }: { readonly change: Change; readonly options: UpdateOptions },
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
  const uid = context.newUid();
  const attempt = async (current: ApiObject | undefined): Promise<Intent> => {
    if (current === undefined) {
      if (
        !options.mayCreate ||
        endpoint.stored.strategy.createsOnUpdate !== true ||
        request.subresource !== ''
      ) {
        throw notFound(endpoint.row, name);
      }
      const object = await admitNew(context, request, { object: change(undefined), uid }, signal);
      return { kind: 'put', object };
    }
    return replace(context, request, { next: change(current), current }, signal);
  };
  const target = writeTarget(context, request, { assumeAbsent: false });
  return writeOptimistically(target, (current) => attempt(current?.object), signal);
}

async function replace(
  context: StoreContext,
  request: WriteRequest,
  { next, current }: { readonly next: ApiObject; readonly current: ApiObject },
  signal: AbortSignal,
): Promise<Intent> {
  checkPreconditions(request, next, current);
  const object = await admit(
    context,
    request,
    {
      operation: 'UPDATE',
      object: next,
      oldObject: current,
      prepare: (admitted) => prepareForUpdate(request, admitted, current),
      validate: (prepared) => {
        validateChanged(request, prepared, current);
      },
    },
    signal,
  );
  const finished = isFinished(object, request.endpoint.stored.strategy);
  return finished ? { kind: 'delete', object } : { kind: 'put', object };
}

function checkPreconditions({ endpoint, name }: WriteRequest, next: ApiObject, current: ApiObject): void {
  const { stored, row } = endpoint;
  const { uid, resourceVersion = '' } = next.metadata;
  if (uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw conflict(
      row,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`,
    );
  }
  if (resourceVersion === '' || resourceVersion === '0') {
    if (stored.strategy.requiresResourceVersion !== true) return;
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalidObject(stored, name, [error]);
  }
  if (resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(
      row,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}

function prepareForUpdate(request: WriteRequest, next: ApiObject, current: ApiObject): ApiObject {
  const { stored, row } = request.endpoint;
  const { strategy } = stored;
  const merged: ApiObject = { ...next, metadata: metadataForUpdate(next.metadata, current.metadata) };
  const subresource = subresourceStrategy(request);
  if (subresource !== undefined) return subresource.prepareForUpdate(merged, current);
  const hasStatus = row.subresources.some((each) => each.name === 'status');
  const kept = hasStatus ? withStatus(merged, current['status']) : merged;
  const prepared = strategy.prepareForUpdate?.(kept, current) ?? kept;
  if (strategy.tracksGeneration !== true || !desiredStateDiffers(prepared, current)) return prepared;
  const generation = (current.metadata.generation ?? 0) + 1;
  return { ...prepared, metadata: { ...prepared.metadata, generation } };
}

function subresourceStrategy({ endpoint, subresource }: WriteRequest): SubresourceStrategy | undefined {
  if (subresource === '') return undefined;
  return endpoint.stored.strategy.subresources?.[subresource] ?? statusSubresource;
}

function validateChanged(request: WriteRequest, next: ApiObject, current: ApiObject): void {
  const { endpoint, name } = request;
  const { stored } = endpoint;
  const { strategy } = stored;
  const subresource = subresourceStrategy(request);
  const errors = [
    ...validateObjectMeta(next.metadata, {
      namespaced: stored.namespaced,
      validateName: pathSegmentName,
      path: 'metadata',
    }),
    ...validateObjectMetaUpdate(next.metadata, current.metadata, 'metadata'),
    ...(subresource === undefined
      ? [...(strategy.validate?.(next) ?? []), ...(strategy.validateUpdate?.(next, current) ?? [])]
      : (subresource.validateUpdate?.(next, current) ?? [])),
  ];
  if (errors.length > 0) throw invalidObject(stored, name, errors);
}
