import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import { validateNodeSelector } from '../pod-template/affinity';
import { ACCESS_MODES, VOLUME_MODES } from '../pod-template/claim-template';
import type { Json } from '../../../shared/object/accessors';
import {
  isZero,
  optionalRecord,
  optionalText,
  record,
  strings,
  text,
} from '../../../shared/object/accessors';
import { choice, forEachItem, immutable, optionalForm } from '../rules/primitives';
import { PERSISTENT_SOURCES } from './persistent-volume-sources';
import { basicResource, positiveQuantity } from '../rules/resource-lists';
import { ISCSI_NAME_TOO_LONG, isLongIscsiName } from '../rules/storage-drivers';
import { oneSource } from '../pod-template/volume-sources';

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Where a volume is can never change; how much of it there is and who gets it can. */
export const persistentVolumeRules: Pick<Strategy, 'prepareForCreate' | 'validate' | 'validateUpdate'> = {
  prepareForCreate: (object) => ({ ...object, status: { phase: 'Pending' } }),
  validate: (object) => validateSpec(record(object['spec']), object.metadata.name ?? ''),
  validateUpdate: validateChange,
};

function validateSpec(spec: Json, name: string): FieldError[] {
  const modes = strings(spec['accessModes']);
  const policy = text(spec['persistentVolumeReclaimPolicy']);
  const volumeMode = optionalText(spec['volumeMode']);
  return [
    ...(modes.length === 0 ? [required('spec.accessModes')] : []),
    ...forEachItem(modes, 'spec', (mode) => choice(mode, 'spec.accessModes', ACCESS_MODES)),
    ...validateCapacity(record(spec['capacity'])),
    ...(policy === '' ? [] : choice(policy, 'spec.persistentVolumeReclaimPolicy', RECLAIM_POLICIES)),
    ...validateNodeAffinity(spec),
    ...longIscsiName(name, spec),
    ...oneSource(spec, 'spec', PERSISTENT_SOURCES),
    ...localIsSomewhere(spec),
    ...rootIsNotRecycled(spec),
    ...optionalForm(spec['storageClassName'], 'spec.storageClassName', dns1123SubdomainProblems),
    ...(volumeMode === undefined ? [] : choice(volumeMode, 'spec.volumeMode', VOLUME_MODES)),
  ];
}

function validateCapacity(capacity: Json): FieldError[] {
  const path = 'spec.capacity';
  const names = Object.keys(capacity);
  return [
    ...(names.length === 0 ? [required(path)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupported(path, capacity, ['storage'])]),
    ...forEachItem(Object.entries(capacity), path, ([name, value]) => [
      ...basicResource(value, `${path}[${name}]`),
      ...positiveQuantity(value, `${path}[${name}]`),
    ]),
  ];
}

function validateNodeAffinity(spec: Json): FieldError[] {
  const affinity = optionalRecord(spec['nodeAffinity']);
  if (affinity === undefined) return [];
  const selector = optionalRecord(affinity['required']);
  const path = 'spec.nodeAffinity.required';
  return selector === undefined
    ? [required(path, 'must specify required node constraints')]
    : validateNodeSelector(selector, path);
}

function longIscsiName(name: string, spec: Json): FieldError[] {
  const portal = record(spec['iscsi'])['targetPortal'];
  return isLongIscsiName(name, spec['iscsi'])
    ? [invalid('spec.iscsi.targetportal', portal, ISCSI_NAME_TOO_LONG)]
    : [];
}

function localIsSomewhere(spec: Json): FieldError[] {
  return spec['local'] !== undefined && spec['nodeAffinity'] === undefined
    ? [required('spec.nodeAffinity', 'Local volume requires node affinity')]
    : [];
}

function rootIsNotRecycled(spec: Json): FieldError[] {
  const path = text(record(spec['hostPath'])['path']);
  if (spec['persistentVolumeReclaimPolicy'] !== 'Recycle' || !/^\/[/.]*$/.test(path)) return [];
  return [
    forbiddenField('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"),
  ];
}

const SOURCE_CHANGED = 'spec.persistentvolumesource is immutable after creation';

/** The paths are upstream's. */
function validateChange(next: ApiObject, previous: ApiObject): FieldError[] {
  const after = record(next['spec']);
  const before = record(previous['spec']);
  const moved = Object.keys(PERSISTENT_SOURCES).some(
    (type) => !deepEqual(withoutNewExpandSecret(type, after, before), before[type]),
  );
  const affinity = before['nodeAffinity'];
  return [
    ...(moved ? [forbiddenField('spec.persistentvolumesource', SOURCE_CHANGED)] : []),
    ...immutable(after['volumeMode'], before['volumeMode'], 'volumeMode'),
    ...(isZero(affinity) ? [] : immutable(after['nodeAffinity'], affinity, 'nodeAffinity')),
  ];
}

/** The secret with which a CSI volume grows may be added later. */
function withoutNewExpandSecret(type: string, after: Json, before: Json): unknown {
  const now = optionalRecord(after[type]);
  const isNew =
    type === 'csi' &&
    now?.['controllerExpandSecretRef'] !== undefined &&
    optionalRecord(before[type]) !== undefined &&
    record(before[type])['controllerExpandSecretRef'] === undefined;
  if (now === undefined || !isNew) return after[type];
  const { controllerExpandSecretRef: _added, ...rest } = now;
  return rest;
}
