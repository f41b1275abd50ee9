import type {
  ConfigMapProjection,
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { integer } from '../../../../shared/object/accessors';
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from './downward-api';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import { forEachItem, localDescendingPath, needed } from '../rules/primitives';

/** Volumes whose files the API fills: Secrets, ConfigMaps, fields of the pod, tokens. */

const MODE_MAX = 0o777;

/** A `secret` volume. */
export function secretVolume(volume: SecretVolumeSource, path: string): FieldError[] {
  return [...needed(volume.secretName, `${path}.secretName`), ...keyedFiles(volume, path)];
}

/** A `configMap` volume. */
export function configMapVolume(volume: ConfigMapVolumeSource, path: string): FieldError[] {
  return [...needed(volume.name, `${path}.name`), ...keyedFiles(volume, path)];
}

function keyedFiles(
  { defaultMode, items = [] }: Pick<ConfigMapVolumeSource, 'defaultMode' | 'items'>,
  path: string,
): FieldError[] {
  return [...fileMode(defaultMode, `${path}.defaultMode`), ...forEachItem(items, `${path}.items`, keyToPath)];
}

/** A `downwardAPI` volume. */
export function downwardApiVolume(
  { defaultMode, items = [] }: DownwardAPIVolumeSource,
  path: string,
): FieldError[] {
  return [
    ...fileMode(defaultMode, `${path}.defaultMode`),
    // Upstream gives no index to these items.
    ...forEachItem(items, path, (file) => downwardApiFile(file, path)),
  ];
}

/** A `projected` volume: several sources, one directory. */
export function projectedVolume(volume: ProjectedVolumeSource, path: string): FieldError[] {
  const paths = new Set<string>();
  return [
    ...fileMode(volume.defaultMode, `${path}.defaultMode`),
    ...forEachItem(volume.sources ?? [], `${path}.sources`, (source, at) => {
      const { serviceAccountToken: token } = source;
      const given = membersOf(source, PROJECTIONS);
      return [
        ...given.flatMap((name) => memberErrors(source, name, PROJECTIONS, `${at}.${name}`)),
        // The paths are upstream's.
        ...(token === undefined ? [] : needed(token.path, `${path}.path`)),
        ...clashes(source, { taken: paths, path }),
        ...(given.length > 1 ? [forbiddenField(at, 'may not specify more than 1 volume type')] : []),
      ];
    }),
  ];
}

const PROJECTIONS: MemberRules<VolumeProjection> = {
  secret: keyedProjection,
  configMap: keyedProjection,
  downwardAPI: ({ items = [] }, path) => forEachItem(items, path, (file) => downwardApiFile(file, path)),
  serviceAccountToken: tokenProjection,
};

function keyedProjection({ name, items = [] }: ConfigMapProjection, path: string): FieldError[] {
  return [...needed(name, `${path}.name`), ...forEachItem(items, `${path}.items`, keyToPath)];
}

/** Two sources must not write one file. As upstream, token files are ignored, and the error shows the name of a named source. */
function clashes(
  { secret, configMap, downwardAPI }: VolumeProjection,
  { taken, path }: { readonly taken: Set<string>; readonly path: string },
): FieldError[] {
  const clashesOf = (
    files: readonly Pick<KeyToPath, 'path'>[] | undefined,
    sourceName?: string,
  ): FieldError[] =>
    forEachItem(files ?? [], path, ({ path: file }) => {
      if (file === '') return [];
      if (taken.has(file)) return [invalid(path, sourceName ?? file, 'conflicting duplicate paths')];
      taken.add(file);
      return [];
    });
  return [
    ...clashesOf(secret?.items, secret?.name ?? ''),
    ...clashesOf(configMap?.items, configMap?.name ?? ''),
    ...clashesOf(downwardAPI?.items),
  ];
}

const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

function tokenProjection(token: ServiceAccountTokenProjection, path: string): FieldError[] {
  const seconds = integer(token.expirationSeconds) ?? TOKEN_SECONDS_MIN;
  const at = `${path}.expirationSeconds`;
  return [
    ...(seconds < TOKEN_SECONDS_MIN
      ? [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > TOKEN_SECONDS_MAX
      ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
  ];
}

function keyToPath(item: KeyToPath, path: string): FieldError[] {
  return [
    ...needed(item.key, `${path}.key`),
    ...needed(item.path, `${path}.path`),
    ...fileInVolume(item.path, `${path}.path`),
    ...fileMode(item.mode, `${path}.mode`),
  ];
}

function downwardApiFile(file: DownwardAPIVolumeFile, path: string): FieldError[] {
  return [
    ...needed(file.path, `${path}.path`),
    ...fileInVolume(file.path, `${path}.path`),
    ...downwardApiSource(file, path),
    ...fileMode(file.mode, `${path}.mode`),
  ];
}

function downwardApiSource(
  { fieldRef: field, resourceFieldRef: resource }: DownwardAPIVolumeFile,
  path: string,
): FieldError[] {
  if (field !== undefined) {
    const both = 'fieldRef and resourceFieldRef can not be specified simultaneously';
    return [
      ...validateFieldRef(field, `${path}.fieldRef`, VOLUME_FIELDS),
      ...(resource === undefined ? [] : [invalid(path, 'resource', both)]),
    ];
  }
  if (resource !== undefined) {
    return validateResourceFieldRef(resource, `${path}.resourceFieldRef`, { inVolume: true });
  }
  return [required(path, 'one of fieldRef and resourceFieldRef is required')];
}

/** A file of the volume; names that begin with two dots are the writer's own. */
function fileInVolume(given: string, path: string): FieldError[] {
  const isReserved = given.startsWith('..') && !given.startsWith('../');
  return [
    ...localDescendingPath(given, path),
    ...(isReserved ? [invalid(path, given, "must not start with '..'")] : []),
  ];
}

function fileMode(mode: number | undefined, path: string): FieldError[] {
  if (mode === undefined) return [];
  if (mode >= 0 && mode <= MODE_MAX) return [];
  return [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}
