import type { IPAddress, ParentReference } from '../../../../shared/api/types/networking-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { Age } from '../../../engine/registry/object-table';
import type { Strategy } from '../../../engine/registry/strategy';
import { NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { immutable, optionalForm, requiredText } from '../rules/primitives';
import { canonicalIp } from '../rules/strict-addresses';

/** The reservation of an address of the cluster: its name is the address, and its parent the object that has it. */
const ipAddressRules: Pick<Strategy<IPAddress>, 'validateNew' | 'validateUpdate'> = {
  validateNew: ({ metadata, spec }) => [
    ...canonicalIp(metadata.name ?? '', 'metadata.name'),
    ...validateParent(spec.parentRef, 'spec.parentRef'),
  ],
  validateUpdate: (next, previous) => [
    ...immutable(next.spec.parentRef, previous.spec.parentRef, 'spec.parentRef'),
    ...validateParent(next.spec.parentRef, 'spec.parentRef'),
  ],
};

function validateParent(parent: ParentReference | undefined, path: string): FieldError[] {
  if (parent === undefined) return [required(path)];
  // The group of a Service is empty.
  return [
    ...optionalForm(parent.group, `${path}.group`, dns1123SubdomainProblems),
    ...requiredText(parent.resource, `${path}.resource`, pathSegmentProblems),
    ...requiredText(parent.name, `${path}.name`, pathSegmentProblems),
    ...optionalForm(parent.namespace, `${path}.namespace`, pathSegmentProblems),
  ];
}

function parentText({ spec: { parentRef } }: IPAddress): string {
  if (parentRef === undefined) return NONE;
  const { group = '', resource = '', namespace = '', name = '' } = parentRef;
  const type = group === '' ? resource : `${resource}.${group}`;
  return [type.toLowerCase(), ...(namespace === '' ? [] : [namespace]), name].join('/');
}

const ipAddressTable = tableOf<IPAddress>([NAME, { name: 'ParentRef', cell: parentText }]);

export const ipAddresses: Kind<IPAddress> = {
  // The name is validated with the object, since a rule for names cannot report the form of an address.
  strategy: { nameRule: () => [], ...ipAddressRules },
  table: {
    columns: ipAddressTable.columns,
    // Upstream's rows have one cell more than columns.
    row: (address) => [...ipAddressTable.row(address), new Age(address.metadata.creationTimestamp)],
  },
};
