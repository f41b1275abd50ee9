import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';
import { validateClaimTemplate } from './claim-template';
import { forEachItem, invalidForEach, requiredText } from '../rules/primitives';
import type { Volumes } from './volume-mounts';
import { ISCSI_NAME_TOO_LONG, isLongIscsiName } from '../rules/storage-drivers';
import { oneSource, VOLUME_SOURCES } from './volume-sources';

/** The `volumes` of a pod: what is wrong with them, and those that containers may mount. */
export function validateVolumes(
  value: unknown,
  path: string,
  podName: string,
): { readonly errors: readonly FieldError[]; readonly volumes: Volumes } {
  const volumes = new Map<string, Json>();
  const errors = forEachItem(records(value), path, (volume, at) => {
    const name = text(volume['name']);
    const wrong = [
      ...volumeSource(volume, at, podName),
      ...requiredText(name, `${at}.name`, dns1123LabelProblems),
      ...(volumes.has(name) ? [duplicate(`${at}.name`, name)] : []),
    ];
    if (wrong.length === 0) volumes.set(name, volume);
    return wrong;
  });
  return { errors, volumes };
}

/** Volumes that many nodes would mount, which such disks allow for reading alone. */
export function validateSharedDisks(value: unknown, path: string): FieldError[] {
  return forEachItem(records(value), path, (volume, at) => {
    const disk = optionalRecord(volume['gcePersistentDisk']);
    if (disk === undefined || disk['readOnly'] === true) return [];
    const why =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';
    return [invalid(`${at}.gcePersistentDisk.readOnly`, false, why)];
  });
}

function volumeSource(volume: Json, path: string, podName: string): FieldError[] {
  // Nearly no volume is ephemeral, and every pod has volumes.
  const rules =
    volume['ephemeral'] === undefined
      ? VOLUME_SOURCES
      : { ...VOLUME_SOURCES, ephemeral: () => ephemeralVolume(volume, path, podName) };
  return [...oneSource(volume, path, rules), ...longIscsiName(volume, path)];
}

/** Together the two become the name of an interface on the node. */
function longIscsiName(volume: Json, path: string): FieldError[] {
  const name = text(volume['name']);
  return isLongIscsiName(name, volume['iscsi']) ? [invalid(`${path}.name`, name, ISCSI_NAME_TOO_LONG)] : [];
}

/** The claim that will be made for the pod is named after both. */
function ephemeralVolume(volume: Json, path: string, podName: string): FieldError[] {
  const name = text(volume['name']);
  const claimName = `${podName}-${name}`;
  const template = optionalRecord(record(volume['ephemeral'])['volumeClaimTemplate']);
  const at = `${path}.ephemeral.volumeClaimTemplate`;
  return [
    ...(template === undefined ? [required(at)] : validateClaimTemplate(template, at)),
    ...(podName === '' || name === ''
      ? []
      : invalidForEach(dns1123SubdomainProblems(claimName), name, `${path}.name`)),
  ];
}
