import { badRequest, internalError } from '../../../shared/errors/status-error';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import { JSON_DEPTH_MAX } from '../../../shared/schema/decode';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { fieldElement } from '../../../shared/fieldset/path-element';
import type { ObjectView } from '../../engine/registry/object-view';
import { REPLICAS, SCALE } from '../kinds/autoscaling/scale';
import { metadataWithDemands, shownMetadata } from '../../engine/registry/shown-metadata';
import { integer, record } from '../../../shared/object/accessors';
import type { Int64 } from '../../../shared/object/values';
import type { ScalePaths } from './definition';
import type { Found } from './nested';
import { integerAt, namesOf, textAt, withValueAt } from './nested';

const INT32_MAX = 2 ** 31 - 1;
/** Upstream's placeholder for an object without replicas: no client can send this number. */
const NO_REPLICAS = -(2 ** 31);

/** Builds the Scale view of a custom resource by the paths of its definition. The object's own validation applies to changes. */
export function customScale(paths: ScalePaths): ObjectView {
  const { specReplicas, statusReplicas, labelSelector } = paths;
  return {
    canApply: true,
    field: { path: namesOf(specReplicas).map(fieldElement), shownPath: REPLICAS },
    patchesKeepUid: true,
    show: (object) => {
      const selector = labelSelector === '' ? undefined : valueOf(textAt(object, labelSelector));
      const replicas = Number(valueOf(integerAt(object, specReplicas)) ?? NO_REPLICAS);
      return {
        kind: SCALE.kind,
        apiVersion: apiVersionOf(SCALE),
        metadata: shownMetadata(object),
        spec: replicas === 0 ? {} : { replicas },
        status: {
          replicas: Number(valueOf(integerAt(object, statusReplicas)) ?? 0),
          ...(selector === undefined || selector === '' ? {} : { selector }),
        },
      };
    },
    whyHidden: (shown) =>
      replicasOf(shown) === NO_REPLICAS
        ? internalError(new Error(`the spec replicas field ${JSON.stringify(specReplicas)} does not exist`))
        : undefined,
    merge: (shown, object) => {
      const replicas = replicasOf(shown);
      if (replicas === NO_REPLICAS) {
        throw badRequest(`the spec replicas field ${JSON.stringify(specReplicas)} cannot be empty`);
      }
      if (namesOf(specReplicas).length > JSON_DEPTH_MAX) {
        throw badRequest('the spec replicas field lies deeper than objects may nest');
      }
      const scaled = withValueAt(object, specReplicas, replicas);
      const metadata = metadataWithDemands(object, shown);
      if ((shown.metadata.resourceVersion ?? '') !== '') return { ...scaled, metadata };
      // A Scale without resourceVersion updates unconditionally, even if the kind requires one.
      const { resourceVersion = '' } = object.metadata;
      return { ...scaled, metadata: { ...metadata, resourceVersion } };
    },
  };
}

function replicasOf(shown: ApiObject): number {
  return Number(integer(record(shown['spec'])['replicas']) ?? 0);
}

function valueOf<T>(found: Found<T>): T | undefined {
  if (!found.ok) throw internalError(new Error(found.problem));
  return found.value;
}

/** Validates the fields that a Scale shows. A status update does not check the replicas of the spec. */
export function validateScaled(
  object: ApiObject,
  paths: ScalePaths,
  part: 'spec' | 'status',
): readonly FieldError[] {
  const replicas = part === 'spec' ? [paths.specReplicas, paths.statusReplicas] : [paths.statusReplicas];
  const { labelSelector } = paths;
  const selector = labelSelector === '' ? undefined : textAt(object, labelSelector);
  return [
    ...replicas.flatMap((path) => validateReplicas(integerAt(object, path), path)),
    ...(selector === undefined || selector.ok ? [] : [invalid(labelSelector, '', selector.problem)]),
  ];
}

function validateReplicas(found: Found<Int64>, path: string): readonly FieldError[] {
  if (!found.ok) return [invalid(path, 0, found.problem)];
  const { value = 0 } = found;
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > INT32_MAX
    ? [invalid(path, value, `should be less than or equal to ${String(INT32_MAX)}`)]
    : [];
}
