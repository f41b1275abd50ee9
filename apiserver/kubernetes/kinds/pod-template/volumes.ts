import type { EphemeralVolumeSource, Volume } from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { validateClaimTemplate } from './claim-template';
import type { MemberRules } from '../rules/members';
import { forEachItem, needed, requiredText } from '../rules/primitives';
import type { Volumes } from './volume-mounts';
import { ISCSI_NAME_TOO_LONG, isLongIscsiName } from '../rules/storage-drivers';
import { oneSource, VOLUME_SOURCES } from './volume-sources';

/** The `volumes` of a pod: what is wrong with them, and those that containers may mount. */
export function validateVolumes(
  given: readonly Volume[] | undefined,
  path: string,
  podName: string,
): { readonly errors: readonly FieldError[]; readonly volumes: Volumes } {
  const volumes = new Map<string, Volume>();
  const willBeMade = claimsToBeMade(given ?? [], podName);
  const errors = forEachItem(given ?? [], path, (volume, at) => {
    const { name } = volume;
    const wrong = [
      ...volumeSource(volume, at, podName),
      ...requiredText(name, `${at}.name`, dns1123LabelProblems),
      ...(volumes.has(name) ? [duplicate(`${at}.name`, name)] : []),
    ];
    if (wrong.length === 0) volumes.set(name, volume);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim === undefined || !willBeMade.has(claim)) return wrong;
    return [...wrong, invalid(`${at}.persistentVolumeClaim.claimName`, claim, OF_ANOTHER_VOLUME)];
  });
  return { errors, volumes };
}

const OF_ANOTHER_VOLUME = 'must not reference a PVC that gets created for an ephemeral volume';

/** The names of the claims that are created for the ephemeral volumes of a pod. They are unknown for a template. */
function claimsToBeMade(volumes: readonly Volume[], podName: string): ReadonlySet<string> {
  if (podName === '') return new Set();
  return new Set(
    volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => claimName(podName, name)),
  );
}

function claimName(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** Volumes that many nodes would mount, which such disks allow for reading alone. Newer releases leave that to the disks. */
export function validateSharedDisks(volumes: readonly Volume[] | undefined, path: string): FieldError[] {
  if (!isInForce('readOnlySharedDisks')) return [];
  return forEachItem(volumes ?? [], path, ({ gcePersistentDisk: disk }, at) => {
    if (disk === undefined || disk.readOnly === true) return [];
    const why =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';
    return [invalid(`${at}.gcePersistentDisk.readOnly`, false, why)];
  });
}

function volumeSource(volume: Volume, path: string, podName: string): FieldError[] {
  // Nearly no volume is ephemeral, and every pod has volumes.
  const rules: MemberRules<Volume> =
    volume.ephemeral === undefined
      ? VOLUME_SOURCES
      : {
          ...VOLUME_SOURCES,
          ephemeral: (source) => ephemeralVolume(source, path, { podName, name: volume.name }),
        };
  const { image } = volume;
  return [
    ...oneSource(volume, path, rules),
    ...longIscsiName(volume, path),
    // A template may omit it, because another component may set it in the pod.
    ...(image === undefined || podName === '' ? [] : needed(image.reference, `${path}.image.reference`)),
  ];
}

/** Together the two become the name of an interface on the node. */
function longIscsiName({ name, iscsi }: Volume, path: string): FieldError[] {
  return isLongIscsiName(name, iscsi) ? [invalid(`${path}.name`, name, ISCSI_NAME_TOO_LONG)] : [];
}

/** The claim that will be made for the pod is named after both. */
function ephemeralVolume(
  { volumeClaimTemplate: template }: EphemeralVolumeSource,
  path: string,
  { podName, name }: { readonly podName: string; readonly name: string },
): FieldError[] {
  const claim = claimName(podName, name);
  const at = `${path}.ephemeral.volumeClaimTemplate`;
  return [
    ...(template === undefined ? [required(at)] : validateClaimTemplate(template, at)),
    ...(podName === '' || name === ''
      ? []
      : dns1123SubdomainProblems(claim).map((problem) =>
          invalid(`${path}.name`, name, `PVC name ${goQuote(claim)}: ${problem}`),
        )),
  ];
}
