import { isInForce } from '../../../../shared/api/changes';
import type { Overhead, RuntimeClass, Scheduling } from '../../../../shared/api/types/node-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../../shared/meta/dns-names';
import { validateLabels } from '../../../../shared/meta/validate-labels';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateResourceRequirements } from '../pod-template/resource-requirements';
import { tolerationInGo, validateTolerations } from '../pod-template/tolerations';
import { forEachItem, immutable, invalidForEach, repeatsIn } from '../rules/primitives';

const runtimeClassRules: Pick<Strategy<RuntimeClass>, 'validate' | 'validateUpdate'> = {
  validate: ({ handler, overhead, scheduling }) => [
    ...(handler === '' && isInForce('handlersAreRequired')
      ? [required('handler')]
      : invalidForEach(dns1123LabelProblems(handler), handler, 'handler')),
    ...(overhead === undefined ? [] : validateOverhead(overhead)),
    ...(scheduling === undefined ? [] : validateScheduling(scheduling)),
  ],
  validateUpdate: (next, previous) => immutable(next.handler, previous.handler, 'handler'),
};

/** Upstream takes the overhead for the limits of a container. */
function validateOverhead({ podFixed: limits = {} }: Overhead): FieldError[] {
  return validateResourceRequirements({ limits }, 'overhead');
}

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling): FieldError[] {
  const isRepeated = repeatsIn(
    tolerations.map(({ key, operator, value, effect }) => JSON.stringify([key, operator, value, effect])),
  );
  return [
    ...validateLabels(nodeSelector, 'scheduling.nodeSelector'),
    // The doubled name is upstream's.
    ...validateTolerations(
      tolerations,
      isInForce('runtimeClassTolerations') ? 'scheduling.tolerations' : 'scheduling.tolerations.tolerations',
    ),
    ...forEachItem(tolerations, 'scheduling.tolerations', (toleration, path, index) =>
      isRepeated(index) ? [duplicate(path, tolerationInGo(toleration))] : [],
    ),
  ];
}

const runtimeClassTable = tableOf<RuntimeClass>([
  NAME,
  { name: 'Handler', cell: ({ handler }) => handler },
  AGE,
]);

export const runtimeClasses: Kind<RuntimeClass> = {
  strategy: {
    compat: { metadataChecks: 'no domains' },
    createsOnUpdate: true,
    requiresResourceVersion: true,
    ...runtimeClassRules,
  },
  table: runtimeClassTable,
};
