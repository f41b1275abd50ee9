import type { Volume } from '../../../../shared/api/types/core-v1';
import { capabilitiesBeyond, SECCOMP, seccompFields } from './baseline';
import type { Check } from './checked-pod';
import { containers, joinQuoted, namesOf, pluralOf, sortedSet, valueCheck } from './checked-pod';

export const allowPrivilegeEscalation: Check = (pod) => {
  const bad = namesOf(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containers(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const RESTRICTED_CAPABILITIES: ReadonlySet<string> = new Set(['NET_BIND_SERVICE']);

export const restrictedCapabilities: Check = (pod) => {
  const keeping = namesOf(
    pod,
    ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true,
  );
  const adding = capabilitiesBeyond(pod, RESTRICTED_CAPABILITIES);
  if (keeping.length === 0 && adding === undefined) return undefined;
  return {
    reason: 'unrestricted capabilities',
    detail: [
      ...(keeping.length === 0
        ? []
        : [`${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
      ...(adding === undefined ? [] : [adding]),
    ].join('; '),
  };
};

const RESTRICTED_VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

function typeOf({ name: _name, ...sources }: Volume): string {
  return Object.entries(sources).find(([, source]) => source !== undefined)?.[0] ?? 'unknown';
}

export const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !RESTRICTED_VOLUMES.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map(typeOf));
  const names = joinQuoted(bad.map(({ name }) => name));
  const uses = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${pluralOf('volume', bad.length)} ${names} ${uses} ${pluralOf('restricted volume type', types.length)} ${joinQuoted(types)}`,
  };
};

const NON_ROOT = 'runAsNonRoot != true';
const explicitRoot = valueCheck(
  ({ runAsNonRoot }) => runAsNonRoot,
  (value) => (value ? [] : ['false']),
);

export const runAsNonRoot: Check = (pod) => {
  const explicit = explicitRoot(pod);
  if (explicit !== undefined) {
    return {
      reason: NON_ROOT,
      detail: `${explicit.setters} must not set securityContext.runAsNonRoot=false`,
    };
  }
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined;
  const bad = namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (bad.length === 0) return undefined;
  return {
    reason: NON_ROOT,
    detail: `pod or ${containers(bad)} must set securityContext.runAsNonRoot=true`,
  };
};

const rootUser = valueCheck(
  ({ runAsUser }) => runAsUser,
  (user) => (String(user) === '0' ? ['0'] : []),
);

export const runAsUser: Check = (pod) => {
  const found = rootUser(pod);
  if (found === undefined) return undefined;
  return { reason: 'runAsUser=0', detail: `${found.setters} must not set runAsUser=0` };
};

export const seccompRequired: Check = (pod) => {
  const forbidden = seccompFields(pod);
  if (forbidden !== undefined || pod.spec.securityContext?.seccompProfile !== undefined) return forbidden;
  const bad = namesOf(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (bad.length === 0) return undefined;
  return {
    reason: SECCOMP,
    detail: `pod or ${containers(bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};
