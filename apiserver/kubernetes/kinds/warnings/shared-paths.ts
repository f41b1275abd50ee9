import type { KeyToPath, Volume, VolumeProjection } from '../../../../shared/api/types/core-v1';
import { goQuote } from '../../../../shared/errors/go-quote';

/** The path of a file in a volume, and what it comes from; empty where the volume has one source. */
interface FilePath {
  readonly path: string;
  readonly source: string;
}

/** Files of one volume that are compared with each other. Larger volumes are not looked at further. */
const FILES_MAX = 500;

/** Returns the warnings about files of one volume that hide each other. Source: warningsForOverlappingVirtualPaths, v1.36. */
export function sharedPathWarnings(volumes: readonly Volume[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const { name, configMap, secret, downwardAPI, projected } = volume;
    const warn = (what: string, files: readonly FilePath[]): readonly string[] =>
      overlaps(files).map((found) => `volume ${goQuote(name)} (${what}): overlapping paths: ${found}`);
    return [
      ...warn(`ConfigMap ${goQuote(configMap?.name ?? '')}`, filesOf(configMap?.items, '')),
      ...warn(`Secret ${goQuote(secret?.secretName ?? '')}`, filesOf(secret?.items, '')),
      ...warn('DownwardAPI', filesOf(downwardAPI?.items, '')),
      ...(projected?.sources ?? [])
        .filter((source) => Object.keys(source).length === 0)
        .map(() => `volume ${goQuote(name)} (Projected) has no sources provided`),
      ...warn('Projected', (projected?.sources ?? []).flatMap(projectedFiles)),
    ];
  });
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

function overlaps(files: readonly FilePath[]): readonly string[] {
  const seen: FilePath[] = [];
  return files.slice(0, FILES_MAX).flatMap(({ path, source }) => {
    const file = { path: path.replace(/\/+$/, ''), source };
    const found =
      file.path === '' ? [] : seen.filter((each) => each.path !== '' && isSameOrInside(each.path, file.path));
    seen.push(file);
    return found.map((each) => `${shown(file)} with ${shown(each)}`);
  });
}

function isSameOrInside(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

function shown({ path, source }: FilePath): string {
  return source === '' ? goQuote(path) : `${goQuote(path)} (${source})`;
}
