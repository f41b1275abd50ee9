import type { VolumeAttributesClass } from '../../../../shared/api/types/storage-v1';
import { forbiddenField } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { requiredText } from '../rules/primitives';
import { validateParameters } from './storage-classes';

/** A class of volumes never changes: claims refer to other classes instead. */
const volumeAttributesClassRules: Pick<Strategy<VolumeAttributesClass>, 'validate' | 'validateUpdate'> = {
  validate: ({ driverName, parameters = {} }) => [
    ...requiredText(driverName, 'driverName', (name) => qualifiedNameProblems(name.toLowerCase())),
    ...validateParameters(parameters, 'some'),
  ],
  validateUpdate: (next, previous) =>
    (['driverName', 'parameters'] as const)
      .filter((field) => !deepEqual(next[field] ?? {}, previous[field] ?? {}))
      .map((field) => forbiddenField(field, `updates to ${field} are forbidden.`)),
};

export const volumeAttributesClasses: Kind<VolumeAttributesClass> = {
  strategy: { compat: { returnsDeletedObject: true }, ...volumeAttributesClassRules },
  table: tableOf<VolumeAttributesClass>([
    NAME,
    { name: 'DriverName', cell: ({ driverName }) => driverName },
    AGE,
  ]),
};
