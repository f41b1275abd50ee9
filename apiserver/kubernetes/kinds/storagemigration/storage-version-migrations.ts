import type { Condition } from '../../../../shared/api/types/meta-v1';
import type { StorageVersionMigration } from '../../../../shared/api/types/storagemigration-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { immutable } from '../rules/primitives';

const STATES = ['Running', 'Failed', 'Succeeded'] as const;
const FINAL: readonly (readonly [type: string, why: string])[] = [
  ['Succeeded', 'Success condition cannot be set to false once it is true'],
  ['Failed', 'Failed condition cannot be set to false once it is true'],
];

/** A migration of all objects of one resource to its storage version. */
const migrationRules: Pick<
  Strategy<StorageVersionMigration>,
  'validate' | 'validateUpdate' | 'subresources'
> = {
  validate: ({ spec: { resource } }) => validateResource(resource.group, resource.resource),
  validateUpdate: (next, previous) => immutable(next.spec, previous.spec, 'spec'),
  subresources: { status: { ...statusSubresource, validateUpdate: validateStatus } },
};

function validateResource(group: string, resource: string): FieldError[] {
  const path = 'spec.resource';
  return [
    ...(resource === ''
      ? [required(`${path}.resource`, 'resource is required to be set')]
      : joined(dns1035LabelProblems(resource), resource, `${path}.resource`)),
    ...(group === '' ? [] : joined(dns1123SubdomainProblems(group), group, `${path}.group`)),
  ];
}

/** Several problems make one error. */
function joined(problems: readonly string[], value: string, path: string): FieldError[] {
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(','))];
}

/** The resourceVersion is set once, and a migration that has ended stays so. */
function validateStatus(next: StorageVersionMigration, previous: StorageVersionMigration): FieldError[] {
  const { resourceVersion: version = '', conditions = [] } = next.status ?? {};
  const { resourceVersion: before = '', conditions: conditionsBefore = [] } = previous.status ?? {};
  const path = 'status.conditions';
  const isBoth = FINAL.every(([type]) => isTrue(conditions, type));
  return [
    ...(version === '' || /^[1-9]\d*$/.test(version)
      ? []
      : [
          invalid(
            'status.resourceVersion',
            version,
            'resource version is not well formed: must be a positive integer',
          ),
        ]),
    ...validateConditions(conditions, path),
    ...(before !== '' && before !== version
      ? [invalid('status.resourceVersion', version, 'field is immutable')]
      : []),
    ...(isBoth
      ? [invalid(path, conditions, 'Both success and failed conditions cannot be true at the same time')]
      : []),
    ...FINAL.filter(([type]) => isTrue(conditionsBefore, type) && !isTrue(conditions, type)).map(([, why]) =>
      invalid(path, conditions, why),
    ),
  ];
}

function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((each) => each.type === type && each.status === 'True');
}

function stateOf({ status }: StorageVersionMigration): string {
  const states: readonly string[] = STATES;
  return (
    (status?.conditions ?? []).findLast(
      ({ type, status: value }) => value === 'True' && states.includes(type),
    )?.type ?? 'Unknown'
  );
}

export const storageVersionMigrations: Kind<StorageVersionMigration> = {
  strategy: { statusLeavesMetadata: true, requiresResourceVersion: true, ...migrationRules },
  table: tableOf<StorageVersionMigration>([
    { name: NAME.name, cell: NAME.cell },
    {
      name: 'Resource',
      cell: ({ spec: { resource } }) =>
        resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`,
    },
    { name: 'Status', cell: stateOf },
  ]),
};
