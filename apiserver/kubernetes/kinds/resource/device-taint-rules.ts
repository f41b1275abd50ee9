import type { DeviceTaintRule, DeviceTaintSelector } from '../../../../shared/api/types/resource-v1beta2';
import type { FieldError } from '../../../../shared/errors/field-error';
import { tooMany } from '../../../../shared/errors/field-error';
import { formatTime } from '../../../../shared/meta/time';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { Age } from '../../../engine/registry/object-table';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { deviceName, deviceTaint, driverName, poolName, withTimeAdded } from './device-names';

const CONDITIONS_MAX = 8;

/** A taint of all devices that a selector matches. */
const deviceTaintRuleRules: Pick<
  Strategy<DeviceTaintRule>,
  'timedDefaults' | 'prepareForUpdate' | 'validateNew' | 'validateUpdate' | 'subresources'
> = {
  timedDefaults: (object, nowMs) => withTaintTime(object as DeviceTaintRule, nowMs),
  /** A new effect is new from now on, unless the client says since when. */
  prepareForUpdate: (next, previous, { nowMs }) => {
    const { taint } = next.spec;
    const before = previous.spec.taint;
    if (taint.effect === before.effect || taint.timeAdded !== before.timeAdded) return next;
    return { ...next, spec: { ...next.spec, taint: { ...taint, timeAdded: formatTime(nowMs) } } };
  },
  validateNew: (object) => validate(object),
  validateUpdate: validate,
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ status }) => {
        const conditions = status?.conditions ?? [];
        return [
          ...validateConditions(conditions, 'status.conditions'),
          ...(conditions.length > CONDITIONS_MAX
            ? [tooMany('status.conditions', conditions.length, CONDITIONS_MAX)]
            : []),
        ];
      },
    },
  },
};

function withTaintTime(object: DeviceTaintRule, nowMs: number): DeviceTaintRule {
  return { ...object, spec: { ...object.spec, taint: withTimeAdded(object.spec.taint, nowMs) } };
}

function validate({ spec }: DeviceTaintRule, previous?: DeviceTaintRule): FieldError[] {
  return [
    ...(spec.deviceSelector === undefined
      ? []
      : validateSelector(spec.deviceSelector, 'spec.deviceSelector')),
    ...deviceTaint(spec.taint, 'spec.taint', previous?.spec.taint),
  ];
}

function validateSelector({ driver, pool, device }: DeviceTaintSelector, path: string): FieldError[] {
  return [
    ...(driver === undefined ? [] : driverName(driver, `${path}.driver`)),
    ...(pool === undefined ? [] : poolName(pool, `${path}.pool`)),
    ...(device === undefined ? [] : deviceName(device, `${path}.device`)),
  ];
}

export const deviceTaintRules: Kind<DeviceTaintRule> = {
  strategy: {
    tracksGeneration: true,
    statusLeavesMetadata: true,
    compat: { returnsDeletedObject: true },
    ...deviceTaintRuleRules,
  },
  table: tableOf<DeviceTaintRule>([
    NAME,
    { name: 'Key', cell: ({ spec }) => spec.taint.key },
    { name: 'Value', cell: ({ spec }) => spec.taint.value ?? '' },
    { name: 'Effect', cell: ({ spec }) => spec.taint.effect },
    { name: 'TimeAdded', cell: ({ spec }) => new Age(spec.taint.timeAdded) },
    AGE,
  ]),
};
