import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../../../shared/api/types/apiserverinternal-v1alpha1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goNoItems, goStrings } from '../../../../shared/errors/go-values';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import type { NameRule } from '../../../../shared/meta/name-rules';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { sliceItems, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, invalidForEach } from '../rules/primitives';

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
    // A server may be listed twice.
    ...forEachItem(servers, path, validateServer),
    ...validateCommonVersion(status, servers),
    ...validateConditions(conditions),
  ];
}

function validateConditions(conditions: readonly StorageVersionCondition[]): FieldError[] {
  const lastOf = new Map<string, number>();
  // Upstream leaves the list out of the path, and shows the type where the status is wrong.
  return forEachItem(conditions, 'status', (condition, at, index) => {
    const { type, status } = condition;
    const former = lastOf.get(type);
    lastOf.set(type, index);
    const why = `the type of the condition is not unique, it also appears in conditions[${String(former)}]`;
    return [
      ...(former === undefined ? [] : [invalid(`${at}.type`, type, why)]),
      ...invalidForEach(qualifiedNameProblems(type), type, `${at}.type`),
      ...invalidForEach(qualifiedNameProblems(status), type, `${at}.status`),
      ...(['reason', 'message'] as const)
        .filter((field) => (condition[field] ?? '') === '')
        .map((field) => required(`${at}.${field}`, `${field} cannot be empty`)),
    ];
  });
}

function validateServer(server: ServerStorageVersion, path: string): FieldError[] {
  const { apiServerID: id = '', encodingVersion: encoding = '', decodableVersions } = server;
  const decodable = decodableVersions ?? [];
  const shown = decodable.length === 0 ? goNoItems('string') : goStrings(decodable);
  return [
    ...invalidForEach(dns1123SubdomainProblems(id), id, `${path}.apiServerID`),
    ...apiVersion(encoding, `${path}.encodingVersion`),
    ...forEachItem(decodable, `${path}.decodableVersions`, apiVersion),
    ...(decodable.includes(encoding)
      ? []
      : [
          invalid(
            `${path}.decodableVersions`,
            shown,
            `decodableVersions must include encodingVersion ${encoding}`,
          ),
        ]),
  ];
}

function apiVersion(value: string, path: string): FieldError[] {
  const problems = apiVersionProblems(value);
  return problems.length === 0 ? [] : [invalid(path, value, problems.join(','))];
}

function apiVersionProblems(value: string): string[] {
  const parts = value.split('/');
  const version = parts.pop() ?? '';
  const [group, ...others] = parts;
  if (others.length > 0) return [NEITHER_FORM];
  return [
    ...(group === undefined ? [] : partProblems('group', group, dns1123SubdomainProblems)),
    ...partProblems('version', version, dns1035LabelProblems),
  ];
}

function partProblems(part: string, value: string, problemsOf: (value: string) => string[]): string[] {
  const problems = value === '' ? ['must be non-empty'] : problemsOf(value);
  return problems.map((problem) => `${part} part: ${problem}`);
}

const NEITHER_FORM =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
  "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') " +
  "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

/** `commonEncodingVersion` is set if and only if all servers agree on one version. */
function validateCommonVersion(
  { commonEncodingVersion: given }: StorageVersionStatus,
  servers: readonly ServerStorageVersion[],
): FieldError[] {
  const versions = new Set(servers.map(({ encodingVersion: version = '' }) => version));
  const [agreed] = versions.size === 1 ? versions : [];
  if (agreed === given) return [];
  return [invalid('status.commonEncodingVersion', given, whyNotCommon(given, agreed))];
}

function whyNotCommon(given: string | undefined, agreed: string | undefined): string {
  if (agreed === undefined) {
    return 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
  }
  return `${given === undefined ? 'the' : 'the actual'} common encoding version is ${agreed}`;
}

const storageVersionTable = tableOf<StorageVersion>([
  NAME,
  { name: 'CommonEncodingVersion', cell: ({ status }) => status?.commonEncodingVersion ?? UNSET },
  {
    name: 'StorageVersions',
    cell: ({ status }) =>
      sliceItems(
        (status?.storageVersions ?? []).map(
          ({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`,
        ),
      ),
  },
  AGE,
]);

/** `<group>.<resource>`. */
const storageVersionName: NameRule = (name) => {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123SubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
};

export const storageVersions: Kind<StorageVersion> = {
  strategy: {
    compat: { metadataChecks: 'new alone', statusTakes: ['deletionGracePeriodSeconds', 'generateName'] },
    nameRule: storageVersionName,
    statusLeavesMetadata: true,
    requiresResourceVersion: true,
    ...storageVersionRules,
  },
  table: storageVersionTable,
};
