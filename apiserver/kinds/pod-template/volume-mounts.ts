import type { FieldError } from '../../../shared/errors/field-error';
import {
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { optionalText, record, records, text } from '../../../shared/object/accessors';
import { forEachItem, localDescendingPath, needed, pathWithoutBacksteps } from '../rules/primitives';

/** The volumes of a pod that are sound, by name: a mount of an unsound one finds nothing. */
export type Volumes = ReadonlyMap<string, Json>;

/** `volumeMounts` and `volumeDevices` of one container. */
export function validateMounts(container: Json, path: string, volumes: Volumes): FieldError[] {
  return [
    ...volumeMounts(container, `${path}.volumeMounts`, volumes),
    ...volumeDevices(container, `${path}.volumeDevices`, volumes),
  ];
}

function volumeMounts(container: Json, path: string, volumes: Volumes): FieldError[] {
  const devices = records(container['volumeDevices']);
  const deviceNames = new Set(devices.map((device) => text(device['name'])));
  const devicePaths = new Set(devices.map((device) => text(device['devicePath'])));
  const taken = new Set<string>();
  return forEachItem(records(container['volumeMounts']), path, (mount, at) => {
    const name = text(mount['name']);
    const mountPath = text(mount['mountPath']);
    const again = taken.has(mountPath);
    taken.add(mountPath);
    return [
      ...needed(name, `${at}.name`),
      ...(volumes.has(name) ? [] : [notFoundField(`${at}.name`, name)]),
      ...needed(mountPath, `${at}.mountPath`),
      ...(again ? [invalid(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      ...(deviceNames.has(name)
        ? [invalid(`${at}.name`, name, 'must not already exist in volumeDevices')]
        : []),
      ...(devicePaths.has(mountPath)
        ? [invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
        : []),
      ...subPaths(mount, at, path),
      ...propagation(optionalText(mount['mountPropagation']), container, `${path}.mountPropagation`),
    ];
  });
}

/** Upstream gives the form of both paths at the list, and their conflict at the item. */
function subPaths(mount: Json, at: string, listPath: string): FieldError[] {
  const subPath = text(mount['subPath']);
  const expression = text(mount['subPathExpr']);
  return [
    ...localDescendingPath(subPath, `${listPath}.subPath`),
    ...(subPath !== '' && expression !== ''
      ? [invalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...localDescendingPath(expression, `${listPath}.subPathExpr`),
  ];
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function propagation(mode: string | undefined, container: Json, path: string): FieldError[] {
  if (mode === undefined) return [];
  const errors = PROPAGATIONS.includes(mode) ? [] : [notSupported(path, mode, PROPAGATIONS)];
  if (mode !== 'Bidirectional' || record(container['securityContext'])['privileged'] === true) return errors;
  const why = 'Bidirectional mount propagation is available only to privileged containers';
  return [...errors, forbiddenField(path, why)];
}

function volumeDevices(container: Json, path: string, volumes: Volumes): FieldError[] {
  const mounts = records(container['volumeMounts']);
  const mountNames = new Set(mounts.map((mount) => text(mount['name'])));
  const mountPaths = new Set(mounts.map((mount) => text(mount['mountPath'])));
  const names = new Set<string>();
  const paths = new Set<string>();
  return forEachItem(records(container['volumeDevices']), path, (device, at) => {
    const name = text(device['name']);
    const devicePath = text(device['devicePath']);
    const errors = [
      ...deviceName(name, `${at}.name`, { volumes, names, mountNames }),
      ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
      ...(paths.has(devicePath) ? [invalid(`${at}.devicePath`, devicePath, 'must be unique')] : []),
      ...(pathWithoutBacksteps(devicePath, '').length > 0
        ? [invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")]
        : []),
      ...(mountPaths.has(devicePath)
        ? [invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
    if (name !== '') names.add(name);
    if (devicePath !== '') paths.add(devicePath);
    return errors;
  });
}

function deviceName(
  name: string,
  path: string,
  known: { readonly volumes: Volumes; readonly names: Set<string>; readonly mountNames: Set<string> },
): FieldError[] {
  const volume = known.volumes.get(name);
  const isClaim = volume?.['persistentVolumeClaim'] !== undefined || volume?.['ephemeral'] !== undefined;
  const why = 'can only use volume source type of PersistentVolumeClaim for block mode';
  return [
    ...needed(name, path),
    ...(known.names.has(name) ? [invalid(path, name, 'must be unique')] : []),
    ...(volume === undefined ? [notFoundField(path, name)] : []),
    ...(volume !== undefined && !isClaim ? [invalid(path, name, why)] : []),
    ...(known.mountNames.has(name) ? [invalid(path, name, 'must not already exist in volumeMounts')] : []),
  ];
}
