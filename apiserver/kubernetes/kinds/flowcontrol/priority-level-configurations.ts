import { isInForce } from '../../../../shared/api/changes';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from '../../../../shared/api/types/flowcontrol-v1';
import { movesConversion } from '../../../../shared/conversion/moves';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { ANNOTATION } from '../../../../shared/names';
import { SHARES, sharesOf } from '../../../engine/fairness/level';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import type { Column } from '../columns/table';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice, inRange } from '../rules/primitives';
import { EXEMPT } from './flow-schemas';
import { MANDATORY_PRIORITY_LEVELS, validateFlowConditions, validateMandatory } from './mandatory-flow';

const QUEUES_MAX = 10_000_000;

/** Hands are dealt from a hash of 64 bits, of which a few are lost to rounding. */
const ENTROPY_BITS_MAX = 60;

const priorityLevelRules: Pick<Strategy<PriorityLevelConfiguration>, 'validate' | 'subresources'> = {
  validate: (object) => [
    ...validateAnnotations(object),
    ...validatePriorityLevel(object),
    ...validateMandatory(withFixedExempt(object), MANDATORY_PRIORITY_LEVELS),
  ],
  subresources: { status: { ...statusSubresource, validateUpdate: validateFlowConditions } },
};

/** An annotation that only conversions to an older version use. */
function validateAnnotations({ metadata }: PriorityLevelConfiguration): FieldError[] {
  const key = ANNOTATION.preserveZeroConcurrencyShares;
  return Object.hasOwn(metadata.annotations ?? {}, key)
    ? [forbiddenField('metadata.annotations', `annotation '${key}' is forbidden`)]
    : [];
}

/** What the exempt level lends may be changed. */
function withFixedExempt(object: PriorityLevelConfiguration): PriorityLevelConfiguration {
  const { exempt: _free, ...spec } = object.spec;
  const fixed = MANDATORY_PRIORITY_LEVELS[EXEMPT]?.exempt;
  if (object.metadata.name !== EXEMPT) return object;
  return { ...object, spec: { ...spec, ...(fixed === undefined ? {} : { exempt: fixed }) } };
}

function validatePriorityLevel({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const { type, limited, exempt } = spec;
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
        ...(exempt === undefined ? [] : validateExempt(exempt, 'spec.exempt')),
      ];
    case 'Limited':
      return [
        ...misnamed,
        ...(exempt === undefined
          ? []
          : [forbiddenField('spec.exempt', 'must be nil if the type is Limited')]),
        ...(limited === undefined
          ? [required('spec.limited', 'must not be empty when type is Limited')]
          : validateLimited(limited)),
      ];
    default:
      return [...(isExempt ? misnamed : []), ...choice(type, 'spec.type', ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: LimitedPriorityLevelConfiguration): FieldError[] {
  const shares = sharesOf(limited);
  const { lendablePercent, borrowingLimitPercent: borrowing = 0 } = limited;
  const path = 'spec.limited';
  return [
    ...(isInForce('zeroConcurrencyShares')
      ? notNegative(shares, `${path}.${SHARES}`)
      : aboveZero(shares, `${path}.${SHARES}`)),
    ...validateResponse(limited.limitResponse, `${path}.limitResponse`),
    ...inRange(lendablePercent, `${path}.lendablePercent`, PERCENT),
    ...(borrowing >= 0
      ? []
      : [
          invalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer'),
        ]),
  ];
}

/** How much an exempt level lends to others; it borrows nothing. */
function validateExempt(
  { nominalConcurrencyShares: shares = 0, lendablePercent }: ExemptPriorityLevelConfiguration,
  path: string,
): FieldError[] {
  return [
    ...notNegative(shares, `${path}.nominalConcurrencyShares`),
    ...inRange(lendablePercent, `${path}.lendablePercent`, PERCENT),
  ];
}

const PERCENT = { min: 0, max: 100 };

function notNegative(given: number, path: string): FieldError[] {
  return given >= 0 ? [] : [invalid(path, given, 'must be a non-negative integer')];
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

/** The shares have another name in the version that older or newer API levels store. */
const OTHER_SHARES =
  SHARES === 'nominalConcurrencyShares' ? 'assuredConcurrencyShares' : 'nominalConcurrencyShares';

export const priorityLevelConfigurations: Kind<PriorityLevelConfiguration> = {
  strategy: {
    statusLeavesMetadata: true,
    tracksGeneration: true,
    readsOtherVersion: movesConversion([[`spec.limited.${OTHER_SHARES}`, `spec.limited.${SHARES}`]]),
    ...priorityLevelRules,
  },
  table: priorityLevelTable,
};
