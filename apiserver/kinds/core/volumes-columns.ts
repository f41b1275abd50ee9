import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { UNSET } from '../columns/format';
import { ageOf, at, nameOf, phaseOf, scalarOr, textAt, textOr, textsAt } from '../columns/read';
import { storageClassOf } from './storage-class';

export const persistentVolumeRow: RowOf = (volume) => [
  nameOf(volume),
  scalarOr('0', volume, 'spec', 'capacity', 'storage'),
  accessModes(textsAt(volume, 'spec', 'accessModes')),
  textAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
  phaseOf(volume),
  claimOf(volume),
  storageClassOf(volume),
  textAt(volume, 'status', 'reason'),
  ageOf(volume),
  textOr(UNSET, volume, 'spec', 'volumeMode'),
];

/** Capacity and modes are those of the volume that was bound, not those that were asked for. */
export const persistentVolumeClaimRow: RowOf = (claim) => {
  const isBound = textAt(claim, 'spec', 'volumeName') !== '';
  return [
    nameOf(claim),
    phaseOf(claim),
    textAt(claim, 'spec', 'volumeName'),
    isBound ? scalarOr('0', claim, 'status', 'capacity', 'storage') : '',
    isBound ? accessModes(textsAt(claim, 'status', 'accessModes')) : '',
    storageClassOf(claim),
    ageOf(claim),
    textOr(UNSET, claim, 'spec', 'volumeMode'),
  ];
};

const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
];

function accessModes(modes: readonly string[]): string {
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function claimOf(volume: ApiObject): string {
  const claim = at(volume, 'spec', 'claimRef');
  return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}
