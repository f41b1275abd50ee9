import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { integer, optionalRecord, record, records, text } from '../../../shared/object/accessors';
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from './downward-api';
import type { Rule } from '../rules/primitives';
import { fields, forEachItem, ifPresent, localDescendingPath, needed } from '../rules/primitives';

/** Volumes whose files the API fills: Secrets, ConfigMaps, fields of the pod, tokens. */

const MODE_MAX = 0o777;

/** A `secret` volume. */
export const secretVolume: Rule = keyedVolume('secretName');

/** A `configMap` volume. */
export const configMapVolume: Rule = keyedVolume('name');

function keyedVolume(nameField: string): Rule {
  return (value, path) => {
    const volume = record(value);
    return [
      ...needed(volume[nameField], `${path}.${nameField}`),
      ...fileMode(volume['defaultMode'], `${path}.defaultMode`),
      ...forEachItem(records(volume['items']), `${path}.items`, keyToPath),
    ];
  };
}

/** A `downwardAPI` volume. */
export function downwardApiVolume(value: unknown, path: string): FieldError[] {
  const volume = record(value);
  return [
    ...fileMode(volume['defaultMode'], `${path}.defaultMode`),
    // Upstream gives no index to these items.
    ...forEachItem(records(volume['items']), path, (file) => downwardApiFile(file, path)),
  ];
}

/** A `projected` volume: several sources, one directory. */
export function projectedVolume(value: unknown, path: string): FieldError[] {
  const volume = record(value);
  const paths = new Set<string>();
  return [
    ...fileMode(volume['defaultMode'], `${path}.defaultMode`),
    ...forEachItem(records(volume['sources']), `${path}.sources`, (source, at) => {
      const given = Object.entries(PROJECTIONS).filter(
        ([name]) => optionalRecord(source[name]) !== undefined,
      );
      return [
        ...given.flatMap(([name, rule]) => rule(source[name], `${at}.${name}`)),
        // The path is upstream's.
        ...ifPresent(fields({ path: needed }))(source['serviceAccountToken'], path),
        ...clashes(source, { taken: paths, path }),
        ...(given.length > 1 ? [forbiddenField(at, 'may not specify more than 1 volume type')] : []),
      ];
    }),
  ];
}

const PROJECTIONS: Readonly<Record<string, Rule>> = {
  secret: keyedProjection,
  configMap: keyedProjection,
  downwardAPI: (value, path) =>
    forEachItem(records(record(value)['items']), path, (file) => downwardApiFile(file, path)),
  serviceAccountToken: tokenProjection,
};

function keyedProjection(value: unknown, path: string): FieldError[] {
  const source = record(value);
  return [
    ...needed(source['name'], `${path}.name`),
    ...forEachItem(records(source['items']), `${path}.items`, keyToPath),
  ];
}

/** Two sources may not write one file. As upstream, the file of a token counts for nothing, and a named source is told by its name. */
function clashes(
  source: Json,
  { taken, path }: { readonly taken: Set<string>; readonly path: string },
): FieldError[] {
  return ['secret', 'configMap', 'downwardAPI'].flatMap((type) => {
    const { items, name } = record(source[type]);
    return forEachItem(records(items), path, (item) => {
      const file = text(item['path']);
      if (file !== '' && taken.has(file)) {
        return [invalid(path, type === 'downwardAPI' ? file : text(name), 'conflicting duplicate paths')];
      }
      taken.add(file);
      return [];
    });
  });
}

const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

function tokenProjection(value: unknown, path: string): FieldError[] {
  const token = record(value);
  const seconds = integer(token['expirationSeconds']) ?? TOKEN_SECONDS_MIN;
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

function keyToPath(item: Json, path: string): FieldError[] {
  return [
    ...needed(item['key'], `${path}.key`),
    ...needed(item['path'], `${path}.path`),
    ...fileInVolume(item['path'], `${path}.path`),
    ...fileMode(item['mode'], `${path}.mode`),
  ];
}

function downwardApiFile(file: Json, path: string): FieldError[] {
  return [
    ...needed(file['path'], `${path}.path`),
    ...fileInVolume(file['path'], `${path}.path`),
    ...downwardApiSource(file, path),
    ...fileMode(file['mode'], `${path}.mode`),
  ];
}

function downwardApiSource(file: Json, path: string): FieldError[] {
  const field = optionalRecord(file['fieldRef']);
  const resource = optionalRecord(file['resourceFieldRef']);
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
function fileInVolume(value: unknown, path: string): FieldError[] {
  const given = text(value);
  const isReserved = given.startsWith('..') && !given.startsWith('../');
  return [
    ...localDescendingPath(given, path),
    ...(isReserved ? [invalid(path, given, "must not start with '..'")] : []),
  ];
}

function fileMode(value: unknown, path: string): FieldError[] {
  const mode = integer(value) ?? 0;
  if (mode >= 0 && mode <= MODE_MAX) return [];
  return [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}
