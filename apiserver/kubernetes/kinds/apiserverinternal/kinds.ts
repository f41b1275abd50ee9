import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { NameRule } from '../../../../shared/meta/name-rules';
import { storageVersionTable } from './columns';
import { storageVersionRules } from './storage-versions-rules';
import { kindsOf } from '../kind';

/** `<group>.<resource>`. */
const storageVersionName: NameRule = (name) => {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123SubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
};

export const apiserverinternal = kindsOf('apiserverinternal', {
  storageversions: {
    strategy: {
      metadataChecks: 'new alone',
      nameRule: storageVersionName,
      statusLeavesMetadata: true,
      statusTakes: ['deletionGracePeriodSeconds', 'generateName'],
      requiresResourceVersion: true,
      ...storageVersionRules,
    },
    table: storageVersionTable,
  },
});
