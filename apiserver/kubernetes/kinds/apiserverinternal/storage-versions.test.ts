import type { StorageVersionStatus } from '../../../../shared/api/types/apiserverinternal-v1alpha1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { DEFAULT_KIND_SETTINGS } from '../../../engine/registry/strategy';
import { storageVersionRules } from './storage-versions';

const INFO = {
  via: { group: '', version: 'v1alpha1' },
  user: { name: 'jane', uid: '', groups: [], extra: {} },
  nowMs: 0,
  settings: DEFAULT_KIND_SETTINGS,
};

/** What is wrong with the status of a StorageVersion, with the texts. */
function faultsOf(status: StorageVersionStatus): readonly string[] {
  const object = { metadata: { name: 'apps.deployments' }, spec: {}, status };
  const found: readonly FieldError[] =
    storageVersionRules.subresources?.['status']?.validateUpdate?.(object, object, INFO) ?? [];
  return found.map(({ field, message }) => `${field}: ${message}`);
}

const server = (encodingVersion: string, decodableVersions = [encodingVersion]): object => ({
  apiServerID: 'a',
  encodingVersion,
  decodableVersions,
});
const PATH = 'status.storageVersions[0]';

test('a server may be named twice', () => {
  const status = {
    storageVersions: [server('apps/v1'), server('apps/v1')],
    commonEncodingVersion: 'apps/v1',
  };
  expect(faultsOf(status)).toEqual([]);
});

test.each([
  [
    [],
    'v1',
    'Invalid value: "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
  ],
  [[server('v1')], undefined, 'Invalid value: "null": the common encoding version is v1'],
  [[server('v1')], 'v2', 'Invalid value: "v2": the actual common encoding version is v1'],
])(
  'commonEncodingVersion must be the version that all servers share (%j, %s)',
  (storageVersions, given, message) => {
    const status = { storageVersions, ...(given === undefined ? {} : { commonEncodingVersion: given }) };
    expect(faultsOf(status)).toEqual([`status.commonEncodingVersion: ${message}`]);
  },
);

test.each([
  ['/v1', ['group part: must be non-empty']],
  ['apps/', ['version part: must be non-empty']],
  ['a/b/c', ['an apiVersion is a DNS-1035 label']],
  ['A/1', ['group part: a lowercase RFC 1123', 'version part: a DNS-1035 label must']],
])('each part of a version is validated (%s)', (encodingVersion, beginnings) => {
  const [first = ''] = faultsOf({
    storageVersions: [server(encodingVersion)],
    commonEncodingVersion: encodingVersion,
  });
  expect(first).toContain(
    `${PATH}.encodingVersion: Invalid value: "${encodingVersion}": ${String(beginnings[0])}`,
  );
  for (const beginning of beginnings.slice(1)) expect(first).toContain(`,${beginning}`);
});

test('what a server reads holds what it writes', () => {
  const why = 'decodableVersions must include encodingVersion v1';
  const status = { storageVersions: [server('v1', ['v2'])], commonEncodingVersion: 'v1' };
  expect(faultsOf(status)).toEqual([`${PATH}.decodableVersions: Invalid value: []string{"v2"}: ${why}`]);
});

test('a repeated condition is a duplicate of the earlier one', () => {
  const condition = { type: 'A', status: 'True', lastTransitionTime: null, reason: 'r', message: 'm' };
  const why = 'the type of the condition is not unique, it also appears in conditions';
  expect(faultsOf({ conditions: [condition, condition, { ...condition, status: '?' }] })).toEqual([
    `status[1].type: Invalid value: "A": ${why}[0]`,
    `status[2].type: Invalid value: "A": ${why}[1]`,
    expect.stringMatching(/^status\[2\]\.status: Invalid value: "A": name part must consist/),
  ]);
});
