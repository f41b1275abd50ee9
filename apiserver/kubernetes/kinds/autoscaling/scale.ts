import type { Scale } from '../../../../shared/api/types/autoscaling-v1';
import type { LabelSelector } from '../../../../shared/api/types/meta-v1';
import { GROUP } from '../../../../shared/names';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalidObject } from '../../../../shared/errors/field-error';
import { fieldElement } from '../../../../shared/fieldset/path-element';
import { formatLabelSelector, toLabelSelector, labelSelectorFromMap } from '../../../../shared/meta/labels';
import { subdomainName } from '../../../../shared/meta/name-rules';
import { validateObjectMeta } from '../../../../shared/meta/validate-metadata';
import { apiVersionOf } from '../../../../shared/object/object';
import type { ApiObject } from '../../../../shared/object/object';
import type { ObjectView } from '../../../engine/registry/object-view';
import { nonNegative } from '../rules/primitives';
import { metadataWithDemands, shownMetadata } from '../../../engine/registry/shown-metadata';

/** The kind that shows the scale of others. */
export const SCALE = { group: GROUP.autoscaling, version: 'v1', kind: 'Scale' } as const;

/** The replicas of a Scale, and of the built-in kinds. */
export const REPLICAS = ['spec', 'replicas'].map(fieldElement);

/** An object that counts its replicas and selects them. */
type Scaled<Selector> = ApiObject & {
  readonly spec: { readonly replicas?: number; readonly selector?: Selector | null };
  readonly status?: { readonly replicas?: number };
};

/** Scale of a kind whose `spec.selector` is a LabelSelector. */
export const scaleBySelector = scaleWith<LabelSelector>((selector) =>
  formatLabelSelector(toLabelSelector(selector)),
);

/** Scale of a kind whose `spec.selector` is a plain map of labels. */
export const scaleBySelectorMap = scaleWith<Readonly<Record<string, string>>>((selector) =>
  formatLabelSelector(labelSelectorFromMap(selector ?? {})),
);

function scaleWith<Selector>(
  selectorText: (selector: Selector | null | undefined) => string,
): ObjectView<Scaled<Selector>, Scale> {
  return {
    canApply: true,
    field: { path: REPLICAS, shownPath: REPLICAS },
    show: (object) => {
      const selector = selectorText(object.spec.selector);
      const { replicas = 0 } = object.spec;
      return {
        kind: SCALE.kind,
        apiVersion: apiVersionOf(SCALE),
        metadata: shownMetadata(object),
        // As upstream, 0 replicas are omitted, so that no manager owns them after an apply of the scale.
        spec: replicas === 0 ? {} : { replicas },
        status: {
          replicas: object.status?.replicas ?? 0,
          ...(selector === '' ? {} : { selector }),
        },
      };
    },
    merge: (shown, object) => {
      const errors = validateScale(shown);
      if (errors.length > 0) throw invalidObject(SCALE, shown.metadata.name ?? '', errors);
      const { replicas = 0 } = shown.spec;
      return {
        ...object,
        metadata: metadataWithDemands(object, shown),
        spec: { ...object.spec, replicas },
      };
    },
  };
}

function validateScale({ metadata, spec: { replicas = 0 } }: Scale): readonly FieldError[] {
  const rules = { namespaced: true, validateName: subdomainName, path: 'metadata' };
  return [...validateObjectMeta(metadata, rules), ...nonNegative(replicas, 'spec.replicas')];
}
