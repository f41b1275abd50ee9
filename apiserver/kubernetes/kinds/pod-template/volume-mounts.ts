import type { Container, Volume, VolumeMount } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import { forEachItem, localDescendingPath, needed, pathWithoutBacksteps } from '../rules/primitives';

/** The volumes of a pod that are sound, by name: a mount of an unsound one finds nothing. */
export type Volumes = ReadonlyMap<string, Volume>;

/** `volumeMounts` and `volumeDevices` of one container. */
export function validateMounts(container: Container, path: string, volumes: Volumes): FieldError[] {
  return [
    ...volumeMounts(container, `${path}.volumeMounts`, volumes),
    ...volumeDevices(container, `${path}.volumeDevices`, volumes),
  ];
}

function volumeMounts(container: Container, path: string, volumes: Volumes): FieldError[] {
  const { volumeDevices: devices = [] } = container;
  const deviceNames = new Set(devices.map(({ name }) => name));
  // Of devices of one name the last counts, as upstream.
  const devicePaths = new Set(new Map(devices.map(({ name, devicePath }) => [name, devicePath])).values());
  const taken = new Set<string>();
  return forEachItem(container.volumeMounts ?? [], path, (mount, at) => {
    const { name, mountPath } = mount;
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
      ...propagation(mount.mountPropagation, container, `${path}.mountPropagation`),
      ...recursiveReadOnly(mount, `${path}.recursiveReadOnly`),
    ];
  });
}

/** Upstream gives the form of both paths at the list, and their conflict at the item. */
function subPaths(mount: VolumeMount, at: string, listPath: string): FieldError[] {
  const { subPath = '', subPathExpr: expression = '' } = mount;
  return [
    ...localDescendingPath(subPath, `${listPath}.subPath`),
    ...(subPath !== '' && expression !== ''
      ? [invalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...localDescendingPath(expression, `${listPath}.subPathExpr`),
  ];
}

/** Whether mounts below the mount are read-only, too; they cannot come and go then. */
function recursiveReadOnly(mount: VolumeMount, path: string): FieldError[] {
  const { recursiveReadOnly: mode, readOnly, mountPropagation } = mount;
  if (mode === undefined || mode === 'Disabled') return [];
  const known = ['Disabled', 'Enabled', 'IfPossible'];
  if (!known.includes(mode)) return [notSupported(path, mode, known)];
  return [
    ...(readOnly === true ? [] : [forbiddenField(path, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === undefined || mountPropagation === 'None'
      ? []
      : [forbiddenField(path, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function propagation(mode: string | undefined, container: Container, path: string): FieldError[] {
  if (mode === undefined) return [];
  const errors = PROPAGATIONS.includes(mode) ? [] : [notSupported(path, mode, PROPAGATIONS)];
  if (mode !== 'Bidirectional' || container.securityContext?.privileged === true) return errors;
  const why = 'Bidirectional mount propagation is available only to privileged containers';
  return [...errors, forbiddenField(path, why)];
}

function volumeDevices(container: Container, path: string, volumes: Volumes): FieldError[] {
  const { volumeMounts: mounts = [] } = container;
  const mountNames = new Set(mounts.map(({ name }) => name));
  const mountPaths = new Set(new Map(mounts.map(({ name, mountPath }) => [name, mountPath])).values());
  const names = new Set<string>();
  const paths = new Set<string>();
  return forEachItem(container.volumeDevices ?? [], path, ({ name, devicePath }, at) => {
    const goesBack = pathWithoutBacksteps(devicePath, '').length > 0;
    const errors = [
      ...deviceName(name, `${at}.name`, { volumes, names }),
      ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
      ...(paths.has(devicePath) ? [invalid(`${at}.devicePath`, devicePath, 'must be unique')] : []),
      ...(goesBack ? [invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")] : []),
      ...(mountNames.has(name)
        ? [invalid(`${at}.name`, name, 'must not already exist in volumeMounts')]
        : []),
      ...(mountPaths.has(devicePath)
        ? [invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
    if (name !== '') names.add(name);
    if (!goesBack) paths.add(devicePath);
    return errors;
  });
}

function deviceName(
  name: string,
  path: string,
  known: { readonly volumes: Volumes; readonly names: ReadonlySet<string> },
): FieldError[] {
  const volume = known.volumes.get(name);
  const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
  const why = 'can only use volume source type of PersistentVolumeClaim for block mode';
  return [
    ...needed(name, path),
    ...(known.names.has(name) ? [invalid(path, name, 'must be unique')] : []),
    ...(volume !== undefined && !isClaim ? [invalid(path, name, why)] : []),
    ...(volume === undefined ? [notFoundField(path, name)] : []),
  ];
}
