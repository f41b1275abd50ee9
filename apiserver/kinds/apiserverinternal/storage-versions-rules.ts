import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../../shared/api/types/apiserverinternal-v1alpha1';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import { firstIndexIn, forEachItem, invalidForEach } from '../rules/primitives';

/** In which versions the replicas store and read a resource. */
export const storageVersionRules: Pick<Strategy<StorageVersion>, 'subresources'> = {
  subresources: {
    status: { ...statusSubresource, validateUpdate: ({ status }) => validateStatus(status) },
  },
};

function validateStatus(status: StorageVersionStatus = {}): FieldError[] {
  const path = 'status.storageVersions';
  const { storageVersions: servers = [], conditions = [] } = status;
  return [
    ...forEachItem(servers, path, validateServer),
    ...validateCommonVersion(status, servers),
    ...validateConditions(conditions),
  ];
}

function validateConditions(conditions: readonly StorageVersionCondition[]): FieldError[] {
  const firstIndexOf = firstIndexIn(conditions.map(({ type }) => type));
  // Upstream leaves the list out of the path.
  return forEachItem(conditions, 'status', (condition, at, index) => {
    const { type, status } = condition;
    const first = firstIndexOf(index);
    const why = `the type of the condition is not unique, it also appears in conditions[${String(first)}]`;
    return [
      ...invalidForEach(qualifiedNameProblems(type), type, `${at}.type`),
      ...(first < index ? [invalid(`${at}.type`, type, why)] : []),
      ...invalidForEach(qualifiedNameProblems(status), status, `${at}.status`),
      ...(['reason', 'message'] as const)
        .filter((field) => (condition[field] ?? '') === '')
        .map((field) => required(`${at}.${field}`, `${field} cannot be empty`)),
    ];
  });
}

function validateServer(server: ServerStorageVersion, path: string): FieldError[] {
  const { apiServerID: id = '', encodingVersion: encoding = '', decodableVersions: decodable = [] } = server;
  return [
    ...invalidForEach(dns1123SubdomainProblems(id), id, `${path}.apiServerID`),
    ...apiVersion(encoding, `${path}.encodingVersion`),
    ...forEachItem(decodable, `${path}.decodableVersions`, apiVersion),
    ...(decodable.includes(encoding)
      ? []
      : [
          invalid(
            `${path}.decodableVersions`,
            decodable,
            `decodableVersions must include encodingVersion ${encoding}`,
          ),
        ]),
  ];
}

function apiVersion(value: string, path: string): FieldError[] {
  const slash = value.indexOf('/');
  const group = value.slice(0, Math.max(slash, 0));
  const problems = [
    ...(slash < 0 ? [] : dns1123SubdomainProblems(group)),
    ...dns1035LabelProblems(value.slice(slash + 1)),
  ];
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(', '))];
}

/** The version that all agree on is told when they do, and only then. */
function validateCommonVersion(
  { commonEncodingVersion: told }: StorageVersionStatus,
  servers: readonly ServerStorageVersion[],
): FieldError[] {
  const path = 'status.commonEncodingVersion';
  const versions = new Set(servers.map(({ encodingVersion: version = '' }) => version));
  const [agreed] = versions.size === 1 ? versions : [];
  if (agreed === told) return [];
  const why =
    agreed === undefined ? 'should be nil if servers do not agree on one version' : `should be ${agreed}`;
  return [invalid(path, told ?? '', why)];
}
