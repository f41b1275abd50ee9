import { ANNOTATION, SNAPSHOT_GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { compareQuantity } from '../../../shared/meta/quantity';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, text } from '../../../shared/object/accessors';
import { validateClaimSpec } from '../pod-template/claim-template';
import { immutable } from '../rules/primitives';
import { basicResource } from '../rules/resource-lists';
import { quantityOf } from '../pod-template/resource-requirements';

/** A claim's spec stays as it is, but for the volume that it gets and, once it has one, a larger size. */
export const persistentVolumeClaimRules: Pick<
  Strategy,
  'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'validateUpdate' | 'subresources'
> = {
  prepareForCreate: (object) => ({ ...withKnownSource(object), status: { phase: 'Pending' } }),
  prepareForUpdate: (next) => withKnownSource(next),
  validate: (object) => validateClaimSpec(record(object['spec']), 'spec'),
  validateUpdate: validateChange,
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next) =>
        Object.entries(record(record(next['status'])['capacity'])).flatMap(([name, value]) =>
          basicResource(value, `status.capacity[${name}]`),
        ),
    },
  },
};

/** Only claims and snapshots can fill a claim; any other source is dropped. */
function withKnownSource(object: ApiObject): ApiObject {
  const spec = record(object['spec']);
  const source = optionalRecord(spec['dataSource']);
  if (source === undefined) return object;
  const [group, kind] = [text(source['apiGroup']), text(source['kind'])];
  const isKnown =
    (kind === 'PersistentVolumeClaim' && group === '') ||
    (kind === 'VolumeSnapshot' && group === SNAPSHOT_GROUP);
  if (isKnown) return object;
  const { dataSource: _dropped, ...rest } = spec;
  return { ...object, spec: rest };
}

function validateChange(next: ApiObject, previous: ApiObject): FieldError[] {
  const after = record(next['spec']);
  const before = record(previous['spec']);
  const isSmaller = compareQuantity(quantityOf(sizeOf(next)), quantityOf(sizeOf(previous))) < 0;
  return [
    ...(movesClass(next, previous) ? [] : sameClassAnnotation(next, previous)),
    ...(deepEqual(comparable(next, previous), before)
      ? []
      : [
          forbiddenField(
            'spec',
            'spec is immutable after creation except resources.requests for bound claims',
          ),
        ]),
    ...(isSmaller
      ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than previous value')]
      : []),
    ...immutable(after['volumeMode'], before['volumeMode'], 'volumeMode'),
  ];
}

/** The new spec with the old values of what may change. */
function comparable(next: ApiObject, previous: ApiObject): Json {
  const after = record(next['spec']);
  const before = record(previous['spec']);
  const resources = record(after['resources']);
  const requests = optionalRecord(resources['requests']);
  const isBound = record(next['status'])['phase'] === 'Bound';
  const reset: Json = {
    ...after,
    ...(text(before['volumeName']) === '' ? { volumeName: before['volumeName'] } : {}),
    ...(movesClass(next, previous) ? { storageClassName: undefined } : {}),
    ...(isBound && requests !== undefined
      ? { resources: { ...resources, requests: { ...requests, storage: sizeOf(previous) } } }
      : {}),
  };
  return Object.fromEntries(Object.entries(reset).filter(([, value]) => value !== undefined));
}

function classAnnotation({ metadata }: ApiObject): string | undefined {
  return metadata.annotations?.[ANNOTATION.betaStorageClass];
}

/** A class may move from its old annotation into the field. */
function movesClass(next: ApiObject, previous: ApiObject): boolean {
  const annotation = classAnnotation(previous);
  const before = record(previous['spec'])['storageClassName'];
  return (
    annotation !== undefined &&
    before === undefined &&
    record(next['spec'])['storageClassName'] === annotation &&
    (classAnnotation(next) ?? annotation) === annotation
  );
}

function sameClassAnnotation(next: ApiObject, previous: ApiObject): FieldError[] {
  const path = `metadata.annotations.${ANNOTATION.betaStorageClass}`;
  return immutable(classAnnotation(next) ?? '', classAnnotation(previous) ?? '', path);
}

function sizeOf(claim: ApiObject): unknown {
  return record(record(record(claim['spec'])['resources'])['requests'])['storage'];
}
