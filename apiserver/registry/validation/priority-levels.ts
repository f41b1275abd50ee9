import type { ApiObject } from '../../../shared/meta/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import type { Strategy } from '../strategy';
import { statusSubresource } from '../strategy';
import type { Json } from './accessors';
import { integer, optionalRecord, record, text } from './accessors';
import { EXEMPT } from './flow-schemas';
import { MANDATORY_PRIORITY_LEVELS, validateFlowConditions, validateMandatory } from './mandatory-flow';
import { choice, positive } from './primitives';

const QUEUES_MAX = 10_000_000;
/** Hands are dealt from a hash of 64 bits, of which a few are lost to rounding. */
const ENTROPY_BITS_MAX = 60;

export const priorityLevelRules: Pick<Strategy, 'validate' | 'subresources'> = {
  validate: (object) => [
    ...validatePriorityLevel(object),
    ...validateMandatory(object, MANDATORY_PRIORITY_LEVELS),
  ],
  subresources: { status: { ...statusSubresource, validateUpdate: validateFlowConditions } },
};

function validatePriorityLevel(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const type = text(spec['type']);
  const limited = optionalRecord(spec['limited']);
  const isExempt = object.metadata.name === EXEMPT;
  const misnamed =
    isExempt === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, `type must be 'Exempt' if and only if the name is '${EXEMPT}'`)];
  switch (type) {
    case 'Exempt':
      return [
        ...misnamed,
        ...(limited === undefined
          ? []
          : [forbiddenField('spec.limited', "must be nil if the type is not 'Limited'")]),
      ];
    case 'Limited':
      return [
        ...misnamed,
        ...(limited === undefined
          ? [required('spec.limited', "must not be empty when type is 'Limited'")]
          : validateLimited(limited)),
      ];
    default:
      return [...(isExempt ? misnamed : []), ...choice(type, 'spec.type', ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: Json): FieldError[] {
  const path = 'spec.limited.limitResponse';
  const response = record(limited['limitResponse']);
  const queuing = optionalRecord(response['queuing']);
  return [
    ...positive(limited['assuredConcurrencyShares'], 'spec.limited.assuredConcurrencyShares'),
    ...(text(response['type']) === 'Queue' && queuing === undefined
      ? [required(`${path}.queuing`, "must not be empty if type is 'Queue'")]
      : []),
    ...(text(response['type']) === 'Reject' && queuing !== undefined
      ? [forbiddenField(`${path}.queuing`, "must be nil if the type is not 'Queue'")]
      : []),
    ...(text(response['type']) === 'Queue' && queuing !== undefined
      ? validateQueuing(queuing, `${path}.queuing`)
      : []),
    ...choice(response['type'], `${path}.type`, ['Queue', 'Reject']),
  ];
}

function validateQueuing(queuing: Json, path: string): FieldError[] {
  const queues = integer(queuing['queues']) ?? 0;
  const handSize = integer(queuing['handSize']) ?? 0;
  const at = `${path}.handSize`;
  return [
    ...positive(queuing['queueLengthLimit'], `${path}.queueLengthLimit`),
    ...positive(queues, `${path}.queues`),
    ...(queues > QUEUES_MAX
      ? [invalid(`${path}.queues`, queues, `must not be greater than ${String(QUEUES_MAX)}`)]
      : []),
    ...positive(handSize, at),
    ...(handSize > queues
      ? [invalid(at, handSize, `should not be greater than queues (${String(queues)})`)]
      : []),
    ...(entropyBits(queues, handSize) > ENTROPY_BITS_MAX
      ? [
          invalid(
            at,
            handSize,
            `required entropy bits should not be greater than ${String(ENTROPY_BITS_MAX)}`,
          ),
        ]
      : []),
  ];
}

/** How many bits it takes to tell apart all hands of this size. */
function entropyBits(queues: number, handSize: number): number {
  if (queues <= 0 || handSize <= 0) return 0;
  return Math.ceil(Math.log2(queues) * handSize);
}
