import { isInForce } from '../../../../shared/api/changes';
import type {
  ClusterTrustBundleProjection,
  ConfigMapProjection,
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATIONS_BYTES_MAX, validateLabelSelector } from '../../../../shared/meta/validate-labels';
import { integer } from '../../../../shared/object/accessors';
import { isOwnSigner, validateSignerName } from '../rules/signer-names';
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from './downward-api';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import { choice, forEachItem, localDescendingPath, needed } from '../rules/primitives';
import { byLaterRule } from './later-rules';

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
        ...(token === undefined ? [] : tokenPath(token.path, `${path}.path`)),
        ...clashes(source, { taken: paths, path }),
        ...(given.length > 1
          ? [forbiddenField(at, 'may not specify more than 1 volume type per source')]
          : []),
      ];
    }),
  ];
}

const PROJECTIONS: MemberRules<VolumeProjection> = {
  secret: keyedProjection,
  configMap: keyedProjection,
  downwardAPI: ({ items = [] }, path) => forEachItem(items, path, (file) => downwardApiFile(file, path)),
  serviceAccountToken: tokenProjection,
  clusterTrustBundle: trustBundleProjection,
  podCertificate: certificateProjection,
};

function tokenPath(file: string, path: string): readonly FieldError[] {
  if (file === '' || !isInForce('projectedTokenPaths')) return needed(file, path);
  return byLaterRule('projected token paths', fileInVolume(file, path));
}

function keyedProjection({ name, items = [] }: ConfigMapProjection, path: string): FieldError[] {
  return [...needed(name, `${path}.name`), ...forEachItem(items, `${path}.items`, keyToPath)];
}

/** Two sources must not write one file. As upstream, token files are ignored, and the error shows the name of a named source. */
function clashes(
  { secret, configMap, downwardAPI, clusterTrustBundle: bundle, podCertificate }: VolumeProjection,
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
    ...clashesOf(bundle === undefined ? [] : [bundle]),
    ...clashesOf(CERTIFICATE_FILES.map((name) => ({ path: podCertificate?.[name] ?? '' }))),
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

/** Certificates of authorities, by the name of a bundle or by its signer and labels. */
function trustBundleProjection(bundle: ClusterTrustBundleProjection, path: string): FieldError[] {
  const { name, signerName, labelSelector, path: file } = bundle;
  return [
    ...(name !== undefined && signerName !== undefined
      ? [invalid(path, bundle, 'only one of name and signerName may be used')]
      : []),
    ...(name === undefined && signerName === undefined
      ? [required(path, 'either name or signerName must be specified')]
      : []),
    ...(name === undefined || signerName !== undefined ? [] : bundleName(name, `${path}.name`)),
    ...(name === undefined || signerName !== undefined || labelSelector === undefined
      ? []
      : [
          invalid(`${path}.labelSelector`, labelSelector, 'labelSelector must be unset if name is specified'),
        ]),
    ...(signerName === undefined || name !== undefined
      ? []
      : [
          ...validateSignerName(signerName, `${path}.signerName`),
          ...validateLabelSelector(labelSelector, `${path}.labelSelector`),
        ]),
    ...needed(file, `${path}.path`),
    ...fileInVolume(file, `${path}.path`),
  ];
}

/** `example.com:signer:bundle` for a bundle of a signer, or a name without colons. */
function bundleName(name: string, path: string): readonly FieldError[] {
  if (name === '') return [required(path, 'must be a valid object name')];
  const problems = dns1123SubdomainProblems(name.slice(name.lastIndexOf(':') + 1));
  return problems.map((problem) => invalid(path, name, `not a valid clustertrustbundlename: ${problem}`));
}

const CERTIFICATE_FILES = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const CERTIFICATE_SECONDS_MIN = 3600;
const CERTIFICATE_SECONDS_MAX = 91 * 24 * 3600;
/** The same for signers of the project's own domain. */
const OWN_CERTIFICATE_SECONDS_MAX = 24 * 3600;

/** A key and a certificate of the pod, which a signer issues. */
function certificateProjection(projection: PodCertificateProjection, path: string): FieldError[] {
  const { signerName, keyType, maxExpirationSeconds: seconds, userAnnotations } = projection;
  const files = CERTIFICATE_FILES.filter((name) => (projection[name] ?? '') !== '');
  return [
    ...validateSignerName(signerName ?? '', `${path}.signerName`),
    ...userAnnotationErrors(userAnnotations, `${path}.userAnnotations`),
    ...choice(keyType, `${path}.keyType`, KEY_TYPES),
    ...(seconds === undefined
      ? []
      : certificateSeconds(seconds, `${path}.maxExpirationSeconds`, isOwnSigner(signerName ?? ''))),
    ...files.flatMap((name) => fileInVolume(projection[name] ?? '', `${path}.${name}`)),
    ...(files.length === 0
      ? [required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath')]
      : []),
  ];
}

function certificateSeconds(seconds: number, path: string, isOwn: boolean): readonly FieldError[] {
  const max = isOwn ? OWN_CERTIFICATE_SECONDS_MAX : CERTIFICATE_SECONDS_MAX;
  const text = 'if provided, maxExpirationSeconds must be';
  return [
    ...(seconds < CERTIFICATE_SECONDS_MIN
      ? [invalid(path, seconds, `${text} >= ${String(CERTIFICATE_SECONDS_MIN)}`)]
      : []),
    ...(seconds > max ? [invalid(path, seconds, `${text} <= ${String(max)}`)] : []),
  ];
}

/** The annotations are for the signer, whose domain their keys have. */
function userAnnotationErrors(
  annotations: Readonly<Record<string, string>> = {},
  path: string,
): readonly FieldError[] {
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...forEachItem(Object.keys(annotations), path, (key) => {
      const slash = key.indexOf('/');
      const domain = key.slice(0, Math.max(slash, 0)).toLowerCase();
      const isPrefixed = slash > 0 && slash < key.length - 1 && dns1123SubdomainProblems(domain).length === 0;
      return isPrefixed ? [] : [invalid(path, key, 'must be a domain-prefixed key')];
    }),
    ...(bytes > ANNOTATIONS_BYTES_MAX ? [tooLong(path, '', ANNOTATIONS_BYTES_MAX)] : []),
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
