import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from '../../../../shared/api/types/flowcontrol-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { SHARES, sharesOf } from '../../../engine/fairness/level';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice } from '../rules/primitives';
import { EXEMPT } from './flow-schemas';
import { MANDATORY_PRIORITY_LEVELS, validateFlowConditions, validateMandatory } from './mandatory-flow';

const QUEUES_MAX = 10_000_000;

/** Hands are dealt from a hash of 64 bits, of which a few are lost to rounding. */
const ENTROPY_BITS_MAX = 60;

const priorityLevelRules: Pick<Strategy<PriorityLevelConfiguration>, 'validate' | 'subresources'> = {
  validate: (object) => [
    ...validatePriorityLevel(object),
    ...validateMandatory(object, MANDATORY_PRIORITY_LEVELS),
  ],
  subresources: { status: { ...statusSubresource, validateUpdate: validateFlowConditions } },
};

function validatePriorityLevel({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const { type, limited } = spec;
  const isExempt = metadata.name === EXEMPT;
  const misnamed =
    isExempt === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, `type must be 'Exempt' if and only if name is '${EXEMPT}'`)];
  switch (type) {
    case 'Exempt':
      return [
        ...misnamed,
        ...(limited === undefined
          ? []
          : [forbiddenField('spec.limited', 'must be nil if the type is not Limited')]),
      ];
    case 'Limited':
      return [
        ...misnamed,
        ...(limited === undefined
          ? [required('spec.limited', 'must not be empty when type is Limited')]
          : validateLimited(limited)),
      ];
    default:
      return [...(isExempt ? misnamed : []), ...choice(type, 'spec.type', ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: LimitedPriorityLevelConfiguration): FieldError[] {
  return [
    ...aboveZero(sharesOf(limited), `spec.limited.${SHARES}`),
    ...validateResponse(limited.limitResponse, 'spec.limited.limitResponse'),
  ];
}

/** The texts speak of Limited where they mean Queue, as upstream's do. */
function validateResponse({ type, queuing }: LimitResponse, path: string): FieldError[] {
  const at = `${path}.queuing`;
  switch (type) {
    case 'Reject':
      return queuing === undefined
        ? []
        : [forbiddenField(at, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      return queuing === undefined
        ? [required(at, 'must not be empty if limited.limitResponse.type is Limited')]
        : validateQueuing(queuing, at);
    default:
      return choice(type, `${path}.type`, ['Queue', 'Reject']);
  }
}

function validateQueuing(queuing: QueuingConfiguration, path: string): FieldError[] {
  const { queues, handSize, queueLengthLimit } = queuing;
  return [
    ...aboveZero(queueLengthLimit, `${path}.queueLengthLimit`),
    ...aboveZero(queues, `${path}.queues`),
    ...(queues > QUEUES_MAX
      ? [invalid(`${path}.queues`, queues, `must not be greater than ${String(QUEUES_MAX)}`)]
      : []),
    ...validateHandSize(handSize, queues, `${path}.handSize`),
  ];
}

function validateHandSize(handSize: number, queues: number, path: string): FieldError[] {
  if (handSize <= 0) return aboveZero(handSize, path);
  if (handSize > queues) {
    return [invalid(path, handSize, `should not be greater than queues (${String(queues)})`)];
  }
  if (entropyBits(queues, handSize) <= ENTROPY_BITS_MAX) return [];
  const what = `required entropy bits of deckSize ${String(queues)} and handSize ${String(handSize)}`;
  return [invalid(path, handSize, `${what} should not be greater than ${String(ENTROPY_BITS_MAX)}`)];
}

function aboveZero(given: number, path: string): FieldError[] {
  return given > 0 ? [] : [invalid(path, given, 'must be positive')];
}

/** How many bits it takes to tell apart all hands of this size. */
function entropyBits(queues: number, handSize: number): number {
  return Math.ceil(Math.log2(queues) * handSize);
}

function ofQueuing(name: string, field: keyof QueuingConfiguration): Column<PriorityLevelConfiguration> {
  return { name, cell: ({ spec }) => spec.limited?.limitResponse.queuing?.[field] ?? NONE };
}

const priorityLevelTable = tableOf<PriorityLevelConfiguration>([
  NAME,
  { name: 'Type', cell: ({ spec }) => spec.type },
  {
    name: `${SHARES.charAt(0).toUpperCase()}${SHARES.slice(1)}`,
    cell: ({ spec }) => (spec.limited === undefined ? NONE : sharesOf(spec.limited)),
  },
  ofQueuing('Queues', 'queues'),
  ofQueuing('HandSize', 'handSize'),
  ofQueuing('QueueLengthLimit', 'queueLengthLimit'),
  AGE,
]);

export const priorityLevelConfigurations: Kind<PriorityLevelConfiguration> = {
  strategy: { statusLeavesMetadata: true, tracksGeneration: true, ...priorityLevelRules },
  table: priorityLevelTable,
};
