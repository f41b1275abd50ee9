import type { Pod, Volume, VolumeProjection } from '../../../../../shared/api/types/core-v1';
import type { AllowedHostPath, PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { invalid, validateUntilLimit } from '../../../../../shared/errors/field-error';
import { ROOT_CA } from '../../../../../shared/names';
import { ownKeyMap } from '../../../../../shared/own-key-map';
import { volumeTypeOf } from '../../../kinds/policy/volume-types';
import { containersOf } from '../pod-context';
import type { PodStrategy } from '../strategy';

const ALL = '*';

/** The allowed volume types, with further rules for some. */
export function volumeStrategy(policy: PodSecurityPolicySpec): PodStrategy {
  const types = new Set(policy.volumes);
  const isAllowed = (type: string, volume: Volume): boolean =>
    types.has(ALL) || types.has(type) || (types.has('secret') && isAccountToken(volume));
  return {
    problems(pod) {
      const { volumes = [] } = pod.spec;
      const mounts = writableMounts(pod);
      return validateUntilLimit(volumes, (volume, index) => {
        const path = `spec.volumes[${String(index)}]`;
        const type = volumeTypeOf(volume);
        if (type === undefined) return [invalid(path, '', 'unknown volume type for volume')];
        if (!isAllowed(type, volume))
          return [invalid(path, type, `${type} volumes are not allowed to be used`)];
        return RULES.get(type)?.({ volume, path, policy, mounts }) ?? [];
      });
    },
  };
}

interface SeenVolume {
  readonly volume: Volume;
  readonly path: string;
  readonly policy: PodSecurityPolicySpec;
  readonly mounts: WritableMounts;
}

/** Rules of a type beyond being allowed. */
const RULES = ownKeyMap<(seen: SeenVolume) => readonly FieldError[]>({
  hostPath: ({ volume, path, policy: { allowedHostPaths = [] }, mounts }) => {
    const given = volume.hostPath?.path ?? '';
    const fitting = allowedHostPaths.filter((allowed) => isBelow(given, allowed));
    if (allowedHostPaths.length === 0 || fitting.some(({ readOnly }) => readOnly !== true)) return [];
    if (fitting.length === 0) {
      return [invalid(`${path}.hostPath.pathPrefix`, given, 'is not allowed to be used')];
    }
    return mounts.of(volume.name).map((at) => invalid(`${at}.readOnly`, false, 'must be read-only'));
  },
  flexVolume: ({ volume, path, policy: { allowedFlexVolumes = [] } }) =>
    unlisted({
      driver: volume.flexVolume?.driver ?? '',
      listed: allowedFlexVolumes.map(({ driver }) => driver),
      path: `${path}.driver`,
      why: 'Flexvolume driver is not allowed to be used',
    }),
  csi: ({ volume, path, policy: { allowedCSIDrivers = [] } }) =>
    unlisted({
      driver: volume.csi?.driver ?? '',
      listed: allowedCSIDrivers.map(({ name }) => name),
      path: `${path}.csi.driver`,
      why: 'Inline CSI driver is not allowed to be used',
    }),
});

interface Driver {
  readonly driver: string;
  readonly listed: readonly string[];
  readonly path: string;
  readonly why: string;
}

/** An empty list of drivers allows every driver. */
function unlisted({ driver, listed, path, why }: Driver): readonly FieldError[] {
  return listed.length === 0 || listed.includes(driver) ? [] : [invalid(path, driver, why)];
}

function isBelow(path: string, { pathPrefix = '' }: AllowedHostPath): boolean {
  const given = withoutSlash(path);
  const prefix = withoutSlash(pathPrefix);
  return given === prefix || given.startsWith(`${prefix}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

interface WritableMounts {
  /** Returns the paths of writable mounts of this volume. */
  of(volume: string): readonly string[];
}

/** Collected on first use: a pod may have thousands of volumes and mounts. */
function writableMounts(pod: Pod): WritableMounts {
  let byVolume: Map<string, string[]> | undefined;
  return {
    of(volume) {
      byVolume ??= collect(pod);
      return byVolume.get(volume) ?? [];
    },
  };
}

function collect(pod: Pod): Map<string, string[]> {
  const byVolume = new Map<string, string[]>();
  for (const { container, path } of containersOf(pod)) {
    for (const [index, { name, readOnly }] of (container.volumeMounts ?? []).entries()) {
      if (readOnly === true) continue;
      const paths = byVolume.get(name) ?? [];
      paths.push(`${path}.volumeMounts[${String(index)}]`);
      byVolume.set(name, paths);
    }
  }
  return byVolume;
}

/**
 * Reports whether a projected volume holds exactly what pods need for the API server. It replaced a secret, so it is allowed where
 * secrets are.
 */
function isAccountToken({ projected }: Volume): boolean {
  return projected !== undefined && (projected.sources ?? []).every(isOfAccountToken);
}

function isOfAccountToken({ serviceAccountToken: token, configMap, downwardAPI }: VolumeProjection): boolean {
  if (token === undefined && configMap === undefined && downwardAPI === undefined) return false;
  if (token !== undefined && (token.path !== 'token' || (token.audience ?? '') !== '')) return false;
  if (configMap !== undefined && configMap.name !== ROOT_CA.configMap) return false;
  return (downwardAPI?.items ?? []).every(
    ({ path, fieldRef }) =>
      path === 'namespace' && fieldRef?.apiVersion === 'v1' && fieldRef.fieldPath === 'metadata.namespace',
  );
}
