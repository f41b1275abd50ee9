import type { DeviceClass } from '../../../../shared/api/types/resource-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { isExtendedResource } from '../pod-template/resource-requirements';
import { CONFIG_MAX, validateConfiguration } from './device-claims';
import { SelectorValidator } from './device-selectors';
import { limitedList } from './lists';

/** A class of devices: what they have in common, and how their driver configures them. */
const deviceClassRules: Pick<Strategy<DeviceClass>, 'validateNew' | 'validateUpdate'> = {
  validateNew: (object, info) => validate(object, info),
  validateUpdate: (next, previous, info) => validate(next, info, previous),
};

function validate({ spec }: DeviceClass, info: WriteInfo, previous?: DeviceClass): FieldError[] {
  const { selectors, config, extendedResourceName: name } = spec;
  const isStored = previous !== undefined && deepEqual(config, previous.spec.config);
  const hasStored = previous !== undefined && deepEqual(selectors, previous.spec.selectors);
  return [
    ...new SelectorValidator(info, hasStored).validate(selectors, 'spec.selectors'),
    ...limitedList(config, 'spec.config', {
      max: CONFIG_MAX,
      rule: (each, path) => validateConfiguration(each, path, isStored),
    }),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [invalid('spec.extendedResourceName', name, 'must be a valid extended resource name')]),
  ];
}

export const deviceClasses: Kind<DeviceClass> = {
  strategy: { tracksGeneration: true, compat: { returnsDeletedObject: true }, ...deviceClassRules },
  table: tableOf<DeviceClass>([NAME, AGE]),
};
