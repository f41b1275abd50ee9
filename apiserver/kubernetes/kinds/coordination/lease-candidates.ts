import type { LeaseCandidate, LeaseCandidateSpec } from '../../../../shared/api/types/coordination-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { configKeyProblems, immutable, needed } from '../rules/primitives';
import { compareSemanticVersions, isSemanticVersion } from '../rules/semantic-versions';
import { coordinatedStrategy, OLDEST_EMULATION_VERSION } from './leases';

/** A program that may become the leader: which lease it is a candidate for, and which versions it has. */
const leaseCandidateRules: Pick<Strategy<LeaseCandidate>, 'validate' | 'validateUpdate'> = {
  validate: ({ spec }) => [
    ...needed(spec.leaseName, 'spec.leaseName'),
    ...validateVersions(spec),
    ...validateStrategy(spec),
  ],
  validateUpdate: (next, previous) =>
    immutable(next.spec.leaseName, previous.spec.leaseName, 'spec.leaseName'),
};

function validateVersions({
  binaryVersion: binary,
  emulationVersion: emulated = '',
}: LeaseCandidateSpec): FieldError[] {
  return [
    ...semanticVersion(emulated, 'spec.emulationVersion'),
    ...(binary === '' ? [required('spec.binaryVersion')] : semanticVersion(binary, 'spec.binaryVersion')),
    ...(binary !== '' && emulated !== '' && compareSemanticVersions(binary, emulated) < 0
      ? [invalid('spec.binaryVersion', binary, 'must be greater than or equal to `emulationVersion`')]
      : []),
  ];
}

function semanticVersion(version: string, path: string): FieldError[] {
  return version === '' || isSemanticVersion(version)
    ? []
    : [invalid(path, version, 'must be a valid semantic version')];
}

function validateStrategy({
  strategy = '',
  emulationVersion: emulated = '',
}: LeaseCandidateSpec): FieldError[] {
  if (strategy === '') return [required('spec.strategy')];
  const why = `must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`;
  return [
    ...(strategy === OLDEST_EMULATION_VERSION && compareSemanticVersions(emulated, '0.0.0') === 0
      ? [required('spec.emulationVersion', why)]
      : []),
    ...coordinatedStrategy(strategy, 'spec.strategy'),
  ];
}

export const leaseCandidates: Kind<LeaseCandidate> = {
  strategy: {
    createsOnUpdate: true,
    requiresResourceVersion: true,
    nameRule: configKeyProblems,
    selectableFields: { 'spec.leaseName': '' },
    ...leaseCandidateRules,
  },
  table: tableOf<LeaseCandidate>([
    NAME,
    { name: 'LeaseName', cell: ({ spec }) => spec.leaseName },
    { name: 'BinaryVersion', cell: ({ spec }) => spec.binaryVersion },
    { name: 'EmulationVersion', cell: ({ spec }) => spec.emulationVersion ?? '' },
    AGE,
  ]),
};
