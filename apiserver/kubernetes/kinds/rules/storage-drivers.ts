import { isInForce } from '../../../../shared/api/changes';
import { PROTECTED_GROUP_SUFFIXES } from '../../../../shared/names';
import type {
  CSIVolumeSource,
  FlexVolumeSource,
  ISCSIVolumeSource,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { text } from '../../../../shared/object/accessors';
import { forEachItem, inRange, invalidForEach, needed, optionalForm } from './primitives';

/** The parts that volumes of pods and persistent volumes have in common where they name a driver outside the cluster. */

const DRIVER_BYTES_MAX = 63;

/** The name of a CSI driver. */
export function csiDriverName(value: unknown, path: string): FieldError[] {
  const name = text(value);
  if (name === '' && isInForce('emptyDriverNames')) return [required(path)];
  return [
    ...(name === '' ? [required(path)] : []),
    ...(Buffer.byteLength(name) > DRIVER_BYTES_MAX ? [tooLong(path, name, DRIVER_BYTES_MAX)] : []),
    ...invalidForEach(dns1123SubdomainProblems(name.toLowerCase()), name, path),
  ];
}

/** A CSI volume that lives as long as its pod. The blank in the path, and the path of the form, are upstream's. */
export function csiVolume(volume: CSIVolumeSource, path: string): FieldError[] {
  const { nodePublishSecretRef: secret } = volume;
  const name = secret?.name ?? '';
  return [
    ...csiDriverName(volume.driver, `${path}.driver`),
    ...(secret !== undefined && name === '' ? [required(`${path}.nodePublishSecretRef .name`)] : []),
    ...optionalForm(name, `${path}.name`, dns1123SubdomainProblems),
  ];
}

/** Options of a flex volume; the project's own names are not for users. */
export function flexOptions({ options = {} }: FlexVolumeSource, path: string): FieldError[] {
  const [group = '', domain = ''] = PROTECTED_GROUP_SUFFIXES;
  const why = `${domain.slice(1)} and ${group.slice(1)} namespaces are reserved`;
  return forEachItem(Object.keys(options), path, (key) => {
    const namespace = `.${(key.split('/')[0] ?? '').toLowerCase()}`;
    const isReserved = PROTECTED_GROUP_SUFFIXES.some((suffix) => namespace.endsWith(suffix));
    return isReserved ? [invalid(`${path}.options[${key}]`, key, why)] : [];
  });
}

/** Together with the name of the volume the portal becomes the name of an interface on the node. */
const ISCSI_NAME_BYTES_MAX = 64;
export const ISCSI_NAME_TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

export function isLongIscsiName(volumeName: string, iscsi: ISCSIVolumeSource | undefined): boolean {
  if (iscsi?.initiatorName === undefined) return false;
  return Buffer.byteLength(`${volumeName}:${iscsi.targetPortal}`) > ISCSI_NAME_BYTES_MAX;
}

/**
 * By their beginnings. Upstream also takes an IQN anywhere after the beginning; looking for one from each character of a
 * name as long as a request would take minutes.
 */
const ISCSI_FORMS: readonly (readonly [beginning: string, form: RegExp])[] = [
  ['iqn', /^iqn\.\d{4}-\d{2}\.[A-Za-z0-9-.]+:[^,;*&$|\s]+$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
];

/** The errors for a name with an unknown prefix, in a pod and in a persistent volume. */
type Otherwise = 'must be valid format starting with iqn, eui, or naa' | 'must be valid format';

/** Validates an iSCSI volume: target, initiator, and the secret for its authentication. */
export function iscsiVolume(otherwise: Otherwise): (source: ISCSIVolumeSource, path: string) => FieldError[] {
  return (source, path) => {
    const { iqn, initiatorName: initiator, secretRef } = source;
    const authenticates = source.chapAuthDiscovery === true || source.chapAuthSession === true;
    return [
      ...needed(source.targetPortal, `${path}.targetPortal`),
      ...(iqn === '' ? [required(`${path}.iqn`)] : iscsiName(iqn, `${path}.iqn`, otherwise)),
      ...inRange(source.lun, `${path}.lun`, { min: 0, max: 255 }),
      ...(authenticates && secretRef === undefined ? [required(`${path}.secretRef`)] : []),
      // The small letter is upstream's.
      ...(initiator === undefined ? [] : iscsiName(initiator, `${path}.initiatorname`, otherwise)),
    ];
  };
}

function iscsiName(name: string, path: string, otherwise: Otherwise): FieldError[] {
  const known = ISCSI_FORMS.find(([beginning]) => name.startsWith(beginning));
  if (known === undefined) return [invalid(path, name, otherwise)];
  return known[1].test(name) ? [] : [invalid(path, name, 'must be valid format')];
}
