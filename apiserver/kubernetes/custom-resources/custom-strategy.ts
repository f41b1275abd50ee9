import type { FieldError } from '../../../shared/errors/field-error';
import type { JsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import type { Budget } from '../../../shared/structural/budget';
import { validateEmbedded } from '../../../shared/structural/embedded';
import { validateListTypes } from '../../../shared/structural/list-types';
import { isOutOfRange } from '../../../shared/structural/scalar-checks';
import { warmPatterns } from '../../../shared/structural/warm-patterns';
import { validateValues } from '../../../shared/structural/validate-values';
import { INSTRUCTIONS_MAX } from '../kinds/apiextensions/crd-structure';
import { keepBudgetWithin, valueBudget } from '../../engine/request/value-budget';
import type { Strategy, WriteInfo } from '../../engine/registry/strategy';
import { statusSubresource } from '../../engine/registry/strategy';
import type { LoopBounds } from '../../engine/request/loop-bounds';
import type { Guard } from '../../engine/storage/backend';
import { RATCHETS, validateByRules, warmRules } from './custom-rules';
import { validateScaled } from './custom-scale';
import type { LazyVersion } from './custom-version';
import type { DefinitionVersion } from './definition';

export interface StrategyVersion extends DefinitionVersion {
  readonly lazy: LazyVersion;
}

/** Returns the strategy of custom resources. It validates by the schema of the request's version. */
export function customStrategy(
  versions: ReadonlyMap<string, StrategyVersion>,
  reliesOn: (operation: 'CREATE' | 'UPDATE') => Guard,
): Strategy {
  /** What `validate` found in an object, for the rules that are evaluated after it. */
  const found = new WeakMap<ApiObject, readonly FieldError[]>();
  const byRules = (
    next: ApiObject,
    previous: ApiObject | undefined,
    info: WriteInfo,
  ): readonly FieldError[] => {
    const rules = versions.get(info.via.version)?.lazy.rules;
    if (rules === undefined) return [];
    const wrongValues = found.get(next) ?? [];
    const before = previous === undefined ? undefined : toRequestVersion(previous, info);
    return validateByRules(toRequestVersion(next, info), before, { rules, wrongValues, bounds: info.bounds });
  };
  return {
    reliesOn,
    ...selectableFieldsOf(versions),
    tracksGeneration: true,
    generationCountsStatus: true,
    requiresResourceVersion: true,
    statusLeavesMetadata: true,
    prepareRules: (_next, _previous, { via, bounds }) =>
      prepareRules(versions.get(via.version)?.lazy, bounds),
    validate: (object, info, previous) => {
      const { lazy, scale } = versions.get(info.via.version) ?? {};
      const schema = lazy?.schema;
      const wrongValues = findWrongValues(versions, object, info, previous);
      found.set(object, wrongValues);
      return [
        ...wrongValues,
        ...(scale === undefined ? [] : validateScaled(object, scale, 'spec')),
        ...(schema === undefined ? [] : validateEmbedded(schema, toRequestVersion(object, info))),
      ];
    },
    // Objects with numbers beyond the range of their format from before the rule can still be updated.
    ratchets: (faults, previous, info) => {
      if (previous === undefined || !faults.some(isOutOfRange)) return faults;
      const former = findWrongValues(versions, previous, info).filter(isOutOfRange);
      return faults.filter(({ message }) => !former.some((each) => each.message === message));
    },
    validateNew: (object, info) => [
      ...findDuplicates(versions, object, info),
      ...byRules(object, undefined, info),
    ],
    // Ratcheting: objects with duplicates from before the rule can still be updated.
    validateUpdate: (next, previous, info) => {
      const repeats = findDuplicates(versions, next, info);
      const hadRepeats = repeats.length > 0 && findDuplicates(versions, previous, info).length > 0;
      return [...(hadRepeats ? [] : repeats), ...byRules(next, previous, info)];
    },
    subresources: {
      status: {
        prepareForUpdate: statusSubresource.prepareForUpdate,
        // As in v1.21, status updates validate the values of the whole object, but neither embedded objects nor duplicates.
        validateUpdate: (next, previous, info) => {
          const { scale } = versions.get(info.via.version) ?? {};
          const wrongValues = findWrongValues(versions, next, info, previous);
          found.set(next, wrongValues);
          return [
            ...wrongValues,
            ...(scale === undefined ? [] : validateScaled(next, scale, 'status')),
            ...byRules(next, previous, info),
          ];
        },
      },
    },
  };
}

/** Compiles the patterns and the rules of a version ahead of use; undefined if there is nothing to compile. */
function prepareRules(
  version: LazyVersion | undefined,
  bounds: LoopBounds | undefined,
): Promise<void> | undefined {
  const { schema, rules } = version ?? {};
  const patterns = schema === undefined ? undefined : warmPatterns([schema], INSTRUCTIONS_MAX);
  const compiling = warmRules(rules, bounds);
  if (patterns === undefined || compiling === undefined) return patterns ?? compiling;
  return Promise.all([patterns, compiling]).then(() => undefined);
}

/** Sets the apiVersion of the request, whose schema applies, on the object in the storage version. */
function toRequestVersion(object: ApiObject, { via }: WriteInfo): JsonObject {
  const sent: unknown = { ...object, apiVersion: apiVersionOf(via) };
  return sent as JsonObject;
}

/** Returns the fields that the versions of a definition select by. */
function selectableFieldsOf(
  versions: ReadonlyMap<string, StrategyVersion>,
): Pick<Strategy, 'selectableFields' | 'indexedFields'> {
  const fields = [...versions.values()].flatMap(({ selectableFields }) => selectableFields);
  return fields.length === 0
    ? {}
    : {
        selectableFields: Object.fromEntries(fields.map((field) => [field, ''])),
        indexedFields: [...new Set(fields)],
      };
}

/**
 * Compares the values of an object with the schema of the request's version. At API level 1.30 and later, values that an update leaves unchanged
 * pass.
 */
function findWrongValues(
  versions: ReadonlyMap<string, StrategyVersion>,
  object: ApiObject,
  info: WriteInfo,
  previous?: ApiObject,
): readonly FieldError[] {
  const schema = versions.get(info.via.version)?.lazy.schema;
  if (schema === undefined) return [];
  const errorsBeside = (before: JsonObject | undefined): readonly FieldError[] =>
    validateWithin(info, (budget) =>
      validateValues(schema, toRequestVersion(object, info), { budget, previous: before }),
    );
  const errors = errorsBeside(undefined);
  // Nearly all objects are valid, so that the comparison with the stored one comes afterwards.
  const isRatcheted = RATCHETS && previous !== undefined && errors.length > 0;
  return isRatcheted ? errorsBeside(toRequestVersion(previous, info)) : errors;
}

/** Finds duplicate items of sets and keyed lists. */
function findDuplicates(
  versions: ReadonlyMap<string, StrategyVersion>,
  object: ApiObject,
  info: WriteInfo,
): readonly FieldError[] {
  const schema = versions.get(info.via.version)?.lazy.schema;
  return schema === undefined
    ? []
    : validateWithin(info, (budget) => validateListTypes(schema, object, budget));
}

/** Validates against a schema. If that is expensive even for a small object, the request restarts on a worker. */
function validateWithin(
  info: WriteInfo,
  errorsWithin: (budget: Budget) => readonly FieldError[],
): readonly FieldError[] {
  const budget = valueBudget(info.bounds);
  const errors = errorsWithin(budget);
  keepBudgetWithin(info.bounds, budget);
  return errors;
}
