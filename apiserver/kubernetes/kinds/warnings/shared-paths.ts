import type { KeyToPath, Volume, VolumeProjection } from '../../../../shared/api/types/core-v1';
import { goQuote } from '../../../../shared/errors/go-quote';

/** The path of a file in a volume, and what it comes from; empty where the volume has one source. */
interface FilePath {
  readonly path: string;
  readonly source: string;
}

/** Files of all volumes of one pod that are compared with others of their volume. Larger pods are not looked at further. */
const FILES_MAX = 500;
/** Two files of one volume can hide each other, so that there are many more pairs than files. */
const WARNINGS_MAX = 1_000;

/** Returns the warnings about files of one volume that hide each other. Source: warningsForOverlappingVirtualPaths, v1.36. */
export function sharedPathWarnings(volumes: readonly Volume[]): readonly string[] {
  const warnings: string[] = [];
  let files = 0;
  for (const volume of volumes) {
    const { name, projected } = volume;
    for (const each of projected?.sources ?? []) {
      if (Object.keys(each).length === 0) {
        warnings.push(`volume ${goQuote(name)} (Projected) has no sources provided`);
      }
    }
    for (const [what, own] of filesOfVolume(volume)) {
      const compared = own.slice(0, FILES_MAX - files);
      files += compared.length;
      for (const found of overlaps(compared, WARNINGS_MAX - warnings.length)) {
        warnings.push(`volume ${goQuote(name)} (${what}): overlapping paths: ${found}`);
      }
    }
    if (files >= FILES_MAX || warnings.length >= WARNINGS_MAX) break;
  }
  return warnings;
}

function filesOfVolume({
  configMap,
  secret,
  downwardAPI,
  projected,
}: Volume): readonly (readonly [what: string, files: readonly FilePath[]])[] {
  return [
    [`ConfigMap ${goQuote(configMap?.name ?? '')}`, filesOf(configMap?.items, '')],
    [`Secret ${goQuote(secret?.secretName ?? '')}`, filesOf(secret?.items, '')],
    ['DownwardAPI', filesOf(downwardAPI?.items, '')],
    ['Projected', (projected?.sources ?? []).flatMap(projectedFiles)],
  ];
}

function filesOf(items: readonly Pick<KeyToPath, 'path'>[] = [], source: string): readonly FilePath[] {
  return items.map(({ path }) => ({ path, source }));
}

function projectedFiles(source: VolumeProjection): readonly FilePath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (configMap?.items !== undefined) {
    return filesOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`);
  }
  if (secret?.items !== undefined) return filesOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`);
  if (downwardAPI?.items !== undefined) return filesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken !== undefined) return filesOf([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle !== undefined) {
    const { name, signerName = '' } = clusterTrustBundle;
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${goQuote(name ?? signerName)}`);
  }
  const { certificateChainPath = '', keyPath = '', credentialBundlePath = '' } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: 'PodCertificate chain' },
    { path: keyPath, source: 'PodCertificate key' },
    { path: credentialBundlePath, source: 'PodCertificate credential bundle' },
  ].filter(({ path }) => path !== '');
}

/** Returns at most `max` pairs of files of which one is the other, or is inside of it. */
function overlaps(files: readonly FilePath[], max: number): readonly string[] {
  const seen: { readonly file: FilePath; readonly folder: string }[] = [];
  const found: string[] = [];
  for (const { path, source } of files) {
    const file = { path: withoutEndSlashes(path), source };
    if (file.path === '') continue;
    const folder = `${file.path}/`;
    for (const each of seen) {
      if (!folder.startsWith(each.folder) && !each.folder.startsWith(folder)) continue;
      if (found.length >= max) return found;
      found.push(`${shown(file)} with ${shown(each.file)}`);
    }
    seen.push({ file, folder });
  }
  return found;
}

/** A regular expression would take minutes for a path of a million slashes. */
function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

function shown({ path, source }: FilePath): string {
  return source === '' ? goQuote(path) : `${goQuote(path)} (${source})`;
}
