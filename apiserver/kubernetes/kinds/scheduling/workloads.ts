import type {
  PodGroupTemplate,
  TypedLocalObjectReference,
  Workload,
} from '../../../../shared/api/types/scheduling-v1alpha2';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, required, tooMany } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, immutable, optionalSubdomain, repeatsIn, requiredText } from '../rules/primitives';
import { validateGroup } from './pod-groups';

const TEMPLATES_MAX = 8;
const TEMPLATES = 'spec.podGroupTemplates';

/** Templates of the groups of pods that one application has. Nothing of the spec changes. */
const workloadRules: Pick<Strategy<Workload>, 'validateNew' | 'validateUpdate'> = {
  validateNew: ({ spec: { controllerRef, podGroupTemplates } }) => [
    ...(controllerRef === undefined ? [] : validateController(controllerRef, 'spec.controllerRef')),
    ...validateTemplates(podGroupTemplates ?? []),
  ],
  validateUpdate: (next, previous) => [
    ...immutable(next.spec.controllerRef, previous.spec.controllerRef, 'spec.controllerRef'),
    ...immutable(next.spec.podGroupTemplates, previous.spec.podGroupTemplates, TEMPLATES),
  ],
};

function validateController({ apiGroup, kind, name }: TypedLocalObjectReference, path: string): FieldError[] {
  return [
    ...optionalSubdomain(apiGroup, `${path}.apiGroup`),
    ...requiredText(kind, `${path}.kind`, pathSegmentProblems),
    ...requiredText(name, `${path}.name`, pathSegmentProblems),
  ];
}

function validateTemplates(templates: readonly PodGroupTemplate[]): FieldError[] {
  if (templates.length === 0) return [required(TEMPLATES)];
  if (templates.length > TEMPLATES_MAX) return [tooMany(TEMPLATES, templates.length, TEMPLATES_MAX)];
  const isRepeated = repeatsIn(templates.map(({ name }) => name));
  return forEachItem(templates, TEMPLATES, (template, path, index) => [
    ...(isRepeated(index) ? [duplicate(path, template.name)] : []),
    ...requiredText(template.name, `${path}.name`, dns1123LabelProblems),
    ...validateGroup(template, path),
  ]);
}

export const workloads: Kind<Workload> = {
  strategy: workloadRules,
  table: tableOf<Workload>([NAME, AGE]),
};
