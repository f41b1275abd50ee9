import { Pace } from '../../shared/concurrency/pace';
import type { ApiObject, ObjectMeta } from '../../shared/object/object';
import { conflict, notFound } from '../../shared/errors/status-error';
import type { FieldError } from '../../shared/errors/field-error';
import { invalidObject } from '../../shared/errors/field-error';
import { pathSegmentName } from '../../shared/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../shared/meta/validate-metadata';
import { admitNew, validateSent } from './create';
import { isFinished } from './deletion';
import { tracked, withTrackedFieldsOnly } from './field-tracking';
import { fromHub, toHub } from './hub';
import { desiredStateDiffers, metadataForUpdate } from './metadata';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import { admit } from './admit';
import { kindInErrors } from './resource';
import { writeInfo } from './write-context';
import { writeTarget } from './write-target';
import type { SubresourceStrategy } from './strategy';
import { statusSubresource, withStatus } from './strategy';
import type { Intent, Written } from './write';
import { writeOptimistically } from './write';

/** Makes the next object from the current one, both in the endpoint's version; a PUT ignores it, a PATCH builds on it. Repeatable. Throws a StatusError to refuse. */
export type Change = (current: ApiObject | undefined) => ApiObject;

/** What a client may demand of an update. */
export interface UpdateOptions {
  /** A missing object is created: `kind` where the kind allows it (PUT), `always` for every kind (apply), or never. */
  readonly creates: 'never' | 'kind' | 'always';
  /** The change has brought managedFields up to date itself (apply). */
  readonly isTracked?: boolean;
}

/**
 * Replaces the object, or the part of it that the subresource shows. Refuses with NotFound, Conflict (a resourceVersion or uid in
 * the new object that is not the current one's), Invalid, or whatever admission says. The last finalizer's removal from a
 * terminating object removes the object.
 */
export async function updateObject(
  context: WriteContext,
  request: WriteRequest,
  { change, options }: { readonly change: Change; readonly options: UpdateOptions },
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
  const uid = context.newUid();
  const next = async (stored: ApiObject | undefined): Promise<Next> => {
    const pace = new Pace();
    const live = stored === undefined ? undefined : fromHub(endpoint, stored);
    const changed = change(live);
    if (pace.isDue) await pace.rest();
    const owned = options.isTracked === true ? changed : tracked(context, request, { live, next: changed });
    const sent = request.subresource === '' ? validateSent(context, request, changed) : [];
    const object = toHub(endpoint, owned);
    if (pace.isDue) await pace.rest();
    return { object, sent };
  };
  const attempt = async (current: ApiObject | undefined): Promise<Intent> => {
    if (current === undefined) {
      if (!mayCreate(request, options)) throw notFound(endpoint.row, name);
      const made = await next(undefined);
      checkNoUid(request, made.object, options);
      return { kind: 'put', ...(await admitNew(context, request, { ...made, uid }, signal)) };
    }
    const { object: changed, sent } = await next(current);
    return replace(context, request, { next: changed, sent, current, options }, signal);
  };
  const target = writeTarget(context, request, { assumeAbsent: false });
  return writeOptimistically(target, (current) => attempt(current?.object), signal);
}

/** A configuration that names the uid of its object is not one of an object that is not there. */
function checkNoUid(
  { endpoint, name }: WriteRequest,
  { metadata: { uid = '' } }: ApiObject,
  { creates }: UpdateOptions,
): void {
  if (creates !== 'always' || uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(endpoint.row, name, why);
}

interface Next {
  /** In the stored version. */
  readonly object: ApiObject;
  /** What is wrong with it as it was sent. */
  readonly sent: readonly FieldError[];
}

interface Replacement {
  readonly next: ApiObject;
  readonly sent: readonly FieldError[];
  readonly current: ApiObject;
  readonly options: UpdateOptions;
}

function mayCreate({ endpoint, subresource }: WriteRequest, { creates }: UpdateOptions): boolean {
  if (subresource !== '' || creates === 'never') return false;
  return creates === 'always' || endpoint.stored.strategy.createsOnUpdate === true;
}

async function replace(
  context: WriteContext,
  request: WriteRequest,
  { next, sent, current, options }: Replacement,
  signal: AbortSignal,
): Promise<Intent> {
  const { object, guards } = await admit(
    context,
    request,
    {
      operation: 'UPDATE',
      object: next,
      oldObject: current,
      prepare: (admitted) => {
        // Behind what changes the object and what checks rights: who may not write it at all is told of that.
        checkPreconditions(request, { next: admitted, current, options });
        return prepareForUpdate(context, request, {
          next: withTrackedFieldsOnly(context, admitted),
          current,
        });
      },
      validate: (prepared) => {
        validateChanged(context, request, { next: prepared, sent, current });
      },
    },
    signal,
  );
  const finished = isFinished(object, request.endpoint.stored.strategy);
  if (finished) return { kind: 'delete', object };
  return guards === undefined ? { kind: 'put', object } : { kind: 'put', object, guards };
}

/** The value is upstream's way to write an unsigned zero; people search for these words. */
const NO_VERSION: FieldError = {
  reason: 'FieldValueInvalid',
  field: 'metadata.resourceVersion',
  message: 'Invalid value: 0x0: must be specified for an update',
};

/** A PUT's uid says which object it means; in the result of a patch another uid is a change that validation refuses. */
function checkPreconditions(
  { endpoint, name }: WriteRequest,
  {
    next,
    current,
    options,
  }: { readonly next: ApiObject; readonly current: ApiObject; readonly options: UpdateOptions },
): void {
  const { stored, row } = endpoint;
  const { uid, resourceVersion = '' } = next.metadata;
  const isReplacement = options.creates === 'kind';
  if (isReplacement && uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw conflict(
      row,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`,
    );
  }
  if (resourceVersion === '' || resourceVersion === '0') {
    if (stored.strategy.requiresResourceVersion !== true) return;
    throw invalidObject({ group: stored.group, kind: stored.resource }, name, [NO_VERSION]);
  }
  if (resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(
      row,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}

function prepareForUpdate(
  context: WriteContext,
  request: WriteRequest,
  { next, current }: { readonly next: ApiObject; readonly current: ApiObject },
): ApiObject {
  const { stored, row } = request.endpoint;
  const info = writeInfo(context, request);
  const { strategy } = stored;
  const merged: ApiObject = { ...next, metadata: metadataForUpdate(next.metadata, current.metadata) };
  const subresource = subresourceStrategy(request);
  if (subresource !== undefined) {
    const changed = subresource.prepareForUpdate(merged, current, info);
    const isFixed = strategy.statusLeavesMetadata === true && request.subresource === 'status';
    return isFixed ? { ...changed, metadata: withOwnersOf(current.metadata, changed.metadata) } : changed;
  }
  const hasStatus = row.subresources.some((each) => each.name === 'status');
  const kept = hasStatus ? withStatus(merged, current['status']) : merged;
  const prepared = strategy.prepareForUpdate?.(kept, current, info) ?? kept;
  if (strategy.tracksGeneration !== true) return prepared;
  if (!desiredStateDiffers(prepared, current, strategy.generationCountsStatus)) return prepared;
  const generation = (current.metadata.generation ?? 0) + 1;
  return { ...prepared, metadata: { ...prepared.metadata, generation } };
}

/** Metadata as it was, but for the owners of fields. */
function withOwnersOf(previous: ObjectMeta, next: ObjectMeta): ObjectMeta {
  const { managedFields: _previous, ...kept } = previous;
  return { ...kept, ...(next.managedFields === undefined ? {} : { managedFields: next.managedFields }) };
}

function subresourceStrategy({ endpoint, subresource }: WriteRequest): SubresourceStrategy | undefined {
  if (subresource === '') return undefined;
  return endpoint.stored.strategy.subresources?.[subresource] ?? statusSubresource;
}

function validateChanged(
  context: WriteContext,
  request: WriteRequest,
  { next, sent, current }: Omit<Replacement, 'options'>,
): void {
  const { endpoint, name } = request;
  const { stored } = endpoint;
  const { strategy } = stored;
  const info = writeInfo(context, request);
  const subresource = subresourceStrategy(request);
  const errors = [
    ...validateObjectMeta(next.metadata, {
      namespaced: stored.namespaced,
      validateName: pathSegmentName,
      path: 'metadata',
      freeFinalizers: stored.custom !== undefined,
    }),
    ...validateObjectMetaUpdate(next.metadata, current.metadata, 'metadata'),
    ...sent,
    ...(subresource === undefined
      ? [
          ...(strategy.validate?.(next, info) ?? []),
          ...(strategy.validateUpdate?.(next, current, info) ?? []),
        ]
      : (subresource.validateUpdate?.(next, current, info) ?? [])),
  ];
  if (errors.length > 0) throw invalidObject(kindInErrors(stored), name, errors);
}
