import { isInForce } from '../../../../shared/api/changes';
import type { PriorityClass } from '../../../../shared/api/types/scheduling-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField } from '../../../../shared/errors/field-error';
import { ownKeyMap } from '../../../../shared/own-key-map';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { immutable, requiredChoice } from '../rules/primitives';

const SYSTEM_PREFIX = 'system-';
const USER_VALUE_MAX = 1_000_000_000;
const SYSTEM_CLASSES = ownKeyMap<number>({
  'system-cluster-critical': 2 * USER_VALUE_MAX,
  'system-node-critical': 2 * USER_VALUE_MAX + 1000,
});

/** The value and preemption policy are immutable, so an update is validated for nothing else. */
const priorityClassRules: Pick<
  Strategy<PriorityClass>,
  'refusesDeletion' | 'validateNew' | 'validateUpdate'
> = {
  refusesDeletion: (name) =>
    SYSTEM_CLASSES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined,
  validateNew: (priorityClass) => {
    const { preemptionPolicy: policy } = priorityClass;
    return [
      ...reserved(priorityClass),
      ...(policy === undefined
        ? []
        : requiredChoice(policy, 'preemptionPolicy', ['PreemptLowerPriority', 'Never'])),
    ];
  },
  validateUpdate: (next, previous) => [
    ...(next.value === previous.value
      ? []
      : // The capital letter is upstream's.
        [
          forbiddenField(
            isInForce('priorityValuePaths') ? 'value' : 'Value',
            'may not be changed in an update.',
          ),
        ]),
    ...immutable(next.preemptionPolicy, previous.preemptionPolicy, 'preemptionPolicy'),
  ],
};

/** The prefix and the highest values belong to the classes that the system itself makes, each with its own value. */
function reserved({ metadata, value, globalDefault = false }: PriorityClass): FieldError[] {
  const { name = '' } = metadata;
  if (name.startsWith(SYSTEM_PREFIX)) {
    const own = SYSTEM_CLASSES.get(name);
    if (own === value && !globalDefault) return [];
    const mismatch =
      own === undefined
        ? `${name} is not a known system priority class`
        : own === value
          ? `globalDefault of ${name} PriorityClass must be false`
          : `value of ${name} PriorityClass must be ${String(own)}`;
    const why = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${mismatch}`;
    return [forbiddenField('metadata.name', why)];
  }
  return value > USER_VALUE_MAX
    ? [
        forbiddenField(
          'value',
          `maximum allowed value of a user defined priority is ${String(USER_VALUE_MAX)}`,
        ),
      ]
    : [];
}

const priorityClassTable = tableOf<PriorityClass>([
  NAME,
  { name: 'Value', type: 'integer', cell: ({ value }) => value },
  { name: 'Global-Default', type: 'boolean', cell: ({ globalDefault = false }) => globalDefault },
  AGE,
  ...(isInForce('preemptionPolicyColumn')
    ? [
        {
          name: 'PreemptionPolicy',
          ...(isInForce('preemptionPolicyAlways') ? {} : { isWide: true as const }),
          cell: ({ preemptionPolicy }: PriorityClass) => preemptionPolicy ?? '',
        },
      ]
    : []),
]);

export const priorityClasses: Kind<PriorityClass> = {
  strategy: {
    compat: { metadataChecks: 'old names' },
    ...priorityClassRules,
    // It has a generation, which never changes because its value cannot.
    prepareForCreate: (object: PriorityClass) => ({
      ...object,
      metadata: { ...object.metadata, generation: 1 },
    }),
  },
  table: priorityClassTable,
};
