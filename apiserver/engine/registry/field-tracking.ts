import { GROUP } from '../../../shared/names';
import type { ApiObject, GroupVersion } from '../../../shared/object/object';
import { getConversion } from '../../../shared/conversion/conversions';
import type { Conversion } from '../../../shared/conversion/conversion';
import type { ResourceRow } from '../../../shared/api/resources';
import { parseGroupVersion, resourceOf } from '../../../shared/api/resources';
import { decodeObject } from '../../../shared/schema/decode';
import type { KindType } from '../../../shared/schema/types';
import { kindType } from '../../../shared/schema/types';
import type { ApplyRequest } from './fieldmanager/apply';
import { applyConfiguration } from './fieldmanager/apply';
import { withManagedFields } from './fieldmanager/entries';
import { ignoredFields, managedKind } from './fieldmanager/built-in-kind';
import type { FieldWriter, ManagedKind, OtherVersion } from './fieldmanager/managed-kind';
import { trackUpdate } from './fieldmanager/track-update';
import { EMPTY_SET } from '../../../shared/fieldset/field-set';
import type { ObjectShape } from '../../../shared/fieldset/shape';
import { rootShape } from '../../../shared/fieldset/shape';
import { getObjectShape } from '../../../shared/structural/object-shape';
import { withoutMetadata } from './metadata';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import type { Endpoint } from './resource';
import { fromHub, toHub, withoutLeftOut } from './hub';

/**
 * The object of a create or update with its new managedFields; all objects are in the version of the
 * request. Unchanged if the request has no manager, or if server-side apply is off.
 */
export function tracked(
  context: WriteContext,
  { endpoint, subresource, manager }: WriteRequest,
  { live, next }: { readonly live: ApiObject | undefined; readonly next: ApiObject },
): ApiObject {
  if (manager === undefined || !context.serverSideApply) return next;
  // A request for a subresource cannot set managedFields.
  const read = settled(endpoint, next);
  const own = subresource === '' ? read : withManagedFields(read, live?.metadata.managedFields);
  return trackUpdate(
    managedKindOf(endpoint, subresource),
    live,
    own,
    writerOf(context, manager, subresource),
  );
}

function writerOf(
  { clock, subresourceOwners }: WriteContext,
  manager: string,
  subresource: string,
): FieldWriter {
  return { manager, subresource: subresourceOwners ? subresource : '', nowMs: clock.now() };
}

/** The object as it will be read, if that differs from what was sent. */
function settled(endpoint: Endpoint, object: ApiObject): ApiObject {
  const { stored, apiVersion, conversion } = endpoint;
  if (apiVersion === stored.apiVersion) return withoutLeftOut(stored, object);
  return conversion?.settles === true ? fromHub(endpoint, toHub(endpoint, object)) : object;
}

/** The object as it may be stored: without managedFields where server-side apply is off. Source: rest.BeforeCreate and rest.BeforeUpdate, v1.21. */
export function withTrackedFieldsOnly({ serverSideApply }: WriteContext, object: ApiObject): ApiObject {
  return serverSideApply ? object : withoutMetadata(object, 'managedFields');
}

/** Applies a configuration to the live object; both are in the version of the request. */
export function applied(
  context: WriteContext,
  { endpoint, subresource, manager = '' }: WriteRequest,
  apply: Pick<ApplyRequest, 'live' | 'config' | 'force' | 'read'>,
): ApiObject {
  const kind = managedKindOf(endpoint, subresource);
  return applyConfiguration({ ...apply, kind, writer: writerOf(context, manager, subresource) });
}

const kinds = new WeakMap<Endpoint, Map<string, ManagedKind>>();

/** Field management for writes to this subresource of the endpoint; the empty name is the object itself. */
function managedKindOf(endpoint: Endpoint, subresource: string): ManagedKind {
  const known = kinds.get(endpoint) ?? new Map<string, ManagedKind>();
  kinds.set(endpoint, known);
  const made = known.get(subresource);
  if (made !== undefined) return made;
  const versions = new Map<string, OtherVersion | undefined>();
  const kind = managedKind({
    apiVersion: endpoint.apiVersion,
    type: endpoint.type,
    shape: shapeOf(endpoint),
    hasStatus: hasStatus(endpoint.row),
    subresource,
    resets: resetsOf(endpoint, subresource),
    otherVersion: (apiVersion) => {
      if (!versions.has(apiVersion))
        versions.set(apiVersion, otherVersion(endpoint, subresource, apiVersion));
      return versions.get(apiVersion);
    },
  });
  known.set(subresource, kind);
  return kind;
}

function hasStatus({ subresources }: ResourceRow): boolean {
  return subresources.some(({ name }) => name === 'status');
}

/**
 * As in v1.21, a write to the status of a custom resource does not change metadata, but owns the metadata
 * fields that it sends.
 */
function resetsOf({ stored: { strategy }, custom }: Endpoint, subresource: string): readonly string[] {
  const { statusLeavesMetadata = false, resets = {} } = strategy;
  const isReset = statusLeavesMetadata && custom === undefined && subresource === 'status';
  const metadata = isReset ? ['metadata'] : [];
  return [...metadata, ...(resets[subresource] ?? [])];
}

/** Returns how the fields of an endpoint's objects are owned and merged. */
export function shapeOf({ type, custom }: Pick<Endpoint, 'type' | 'custom'>): ObjectShape {
  return custom?.schema === undefined ? rootShape(type) : getObjectShape(custom.schema);
}

/** Another version of the kind; built-in kinds convert by the hub version. */
function otherVersion(endpoint: Endpoint, subresource: string, apiVersion: string): OtherVersion | undefined {
  if (endpoint.custom !== undefined) return otherCustomVersion(endpoint, apiVersion);
  const there = parseGroupVersion(apiVersion);
  const row = resourceOf(there, endpoint.row.resource);
  const { hub } = endpoint.row;
  if (row === undefined || row.hub.group !== hub.group || row.hub.version !== hub.version) return undefined;
  if (isCore(there) !== isCore(endpoint.row)) return undefined;
  const type = kindType(row.schema);
  const other = { apiVersion, type, conversion: getConversion(row) };
  return {
    apiVersion,
    shape: rootShape(type),
    ignored: ignoredFields({
      type,
      hasStatus: hasStatus(row),
      subresource,
      resets: resetsOf(endpoint, subresource),
    }),
    convert: (object) => converted(object, endpoint, other),
    convertBack: (object) => converted(object, other, endpoint),
  };
}

/**
 * The schemas of `/api` and `/apis` are separate in v1.21: owners of an Event in the other half are dropped.
 */
function isCore({ group }: GroupVersion): boolean {
  return group === GROUP.core;
}

/**
 * Versions of a custom resource differ in their schemas; nothing is pruned here. As in v1.21, fields that
 * the request cannot change are ignored in its own version only: in other versions their owners lose the
 * fields that the request sets.
 */
function otherCustomVersion(endpoint: Endpoint, apiVersion: string): OtherVersion | undefined {
  const other = endpoint.versions.get(apiVersion);
  if (other === undefined) return undefined;
  const { custom: storage } = endpoint.stored;
  return {
    apiVersion,
    shape: shapeOf(other),
    ignored: EMPTY_SET,
    convert: (object) => storage?.move(object, apiVersion) ?? { ...object, apiVersion },
    convertBack: (object) =>
      storage?.move(object, endpoint.apiVersion) ?? { ...object, apiVersion: endpoint.apiVersion },
  };
}

interface Version {
  readonly apiVersion: string;
  readonly type: KindType;
  readonly conversion?: Conversion | undefined;
}

/** A configuration is not decoded yet. Integers that overflow are truncated, as they are after decoding. */
function converted(object: ApiObject, from: Version, to: Version): ApiObject {
  const hub = from.conversion?.toHub(object) ?? object;
  const versioned = { ...(to.conversion?.fromHub(hub) ?? hub), apiVersion: to.apiVersion };
  return decodeObject(to.type, versioned, { empty: 'keep', by: 'converter' }).object;
}
