import type { FieldError } from '../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../shared/meta/dns-names';
import { validateLabels } from '../../../shared/meta/validate-labels';
import type { Strategy } from '../../registry/strategy';
import { optionalRecord, record, stringMap, text } from '../../../shared/object/accessors';
import { immutable, invalidForEach } from '../rules/primitives';
import { validateResourceRequirements } from '../pod-template/resource-requirements';
import { validateTolerations } from '../pod-template/tolerations';

export const runtimeClassRules: Pick<Strategy, 'validate' | 'validateUpdate'> = {
  validate: (object) => [
    ...invalidForEach(dns1123LabelProblems(text(object['handler'])), text(object['handler']), 'handler'),
    ...validateOverhead(object['overhead']),
    ...validateScheduling(object['scheduling']),
  ],
  validateUpdate: (next, previous) => immutable(next['handler'], previous['handler'], 'handler'),
};

/** Upstream takes the overhead for the limits of a container. */
function validateOverhead(value: unknown): FieldError[] {
  const overhead = optionalRecord(value);
  if (overhead === undefined) return [];
  return validateResourceRequirements({ limits: record(overhead['podFixed']) }, 'overhead');
}

function validateScheduling(value: unknown): FieldError[] {
  const scheduling = optionalRecord(value);
  if (scheduling === undefined) return [];
  return [
    ...validateLabels(stringMap(scheduling['nodeSelector']), 'scheduling.nodeSelector'),
    ...validateTolerations(scheduling['tolerations'], 'scheduling.tolerations'),
  ];
}
