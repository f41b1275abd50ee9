import { GROUP } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, invalidObject } from '../../../shared/errors/field-error';
import { formatLabelSelector, labelSelectorOf, labelSelectorOfMap } from '../../../shared/meta/labels';
import { apiVersionOf } from '../../../shared/object/object';
import type { ApiObject } from '../../../shared/object/object';
import { integer, optionalRecord, record, stringMap } from '../../../shared/object/accessors';
import type { ObjectView } from '../../registry/object-view';
import { metadataWithDemands, shownMetadata } from '../../registry/shown-metadata';

/** The kind that shows the scale of others. */
export const SCALE = { group: GROUP.autoscaling, version: 'v1', kind: 'Scale' } as const;

/** Scale of a kind whose `spec.selector` is a LabelSelector. */
export const scaleBySelector: ObjectView = scaleWith((selector) =>
  formatLabelSelector(labelSelectorOf(optionalRecord(selector))),
);

/** Scale of a kind whose `spec.selector` is a plain map of labels. */
export const scaleBySelectorMap: ObjectView = scaleWith((selector) =>
  formatLabelSelector(labelSelectorOfMap(stringMap(selector))),
);

function scaleWith(selectorText: (selector: unknown) => string): ObjectView {
  return {
    canApply: true,
    show: (object) => {
      const spec = record(object['spec']);
      const selector = selectorText(spec['selector']);
      return {
        kind: SCALE.kind,
        apiVersion: apiVersionOf(SCALE),
        metadata: shownMetadata(object),
        spec: { replicas: integer(spec['replicas']) ?? 0 },
        status: {
          replicas: integer(record(object['status'])['replicas']) ?? 0,
          ...(selector === '' ? {} : { selector }),
        },
      };
    },
    merge: (shown, object) => {
      const errors = validateScale(shown);
      if (errors.length > 0) throw invalidObject(SCALE, shown.metadata.name ?? '', errors);
      const replicas = integer(record(shown['spec'])['replicas']) ?? 0;
      return {
        ...object,
        metadata: metadataWithDemands(object, shown),
        spec: { ...record(object['spec']), replicas },
      };
    },
  };
}

function validateScale(scale: ApiObject): readonly FieldError[] {
  const replicas = integer(record(scale['spec'])['replicas']) ?? 0;
  return replicas < 0 ? [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')] : [];
}
