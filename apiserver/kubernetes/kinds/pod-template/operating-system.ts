import type {
  Container,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { choice, forEachItem } from '../rules/primitives';

/** The operating system that a pod names, and what it cannot have there. Source: validateOS and its neighbours, v1.36. */

export const WINDOWS = 'windows';
const LINUX = 'linux';
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Runs the rule on every container of the pod; `path` is that of the spec. */
export function forEachContainer(
  spec: PodSpec,
  path: string,
  rule: (container: Container, path: string) => readonly FieldError[],
): FieldError[] {
  return CONTAINER_LISTS.flatMap((list) =>
    forEachItem<Container>(spec[list] ?? [], `${path}.${list}`, (container, at) => rule(container, at)),
  );
}

/** `os`: its name, and the fields of the other operating system. */
export function validateOperatingSystem(spec: PodSpec, path: string): readonly FieldError[] {
  const { os } = spec;
  if (os === undefined) return [];
  if (os.name === '') return [required(`${path}.os.name`)];
  if (os.name === LINUX) return linux(spec, path);
  if (os.name === WINDOWS) return windows(spec, path);
  return choice(os.name, `${path}.os`, [LINUX, WINDOWS]);
}

function linux(spec: PodSpec, path: string): readonly FieldError[] {
  const rule = (context: SecurityContext | PodSecurityContext | undefined, at: string): FieldError[] =>
    context?.windowsOptions === undefined
      ? []
      : [
          forbiddenField(
            `${at}.securityContext.windowsOptions`,
            'windows options cannot be set for a linux pod',
          ),
        ];
  return [
    ...rule(spec.securityContext, path),
    ...forEachContainer(spec, path, ({ securityContext }, at) => rule(securityContext, at)),
  ];
}

const NOT_IN_WINDOWS_PODS = ['hostUsers', 'shareProcessNamespace'] as const;
const NOT_TRUE_IN_WINDOWS_PODS = ['hostPID', 'hostIPC'] as const;
const NOT_IN_WINDOWS_CONTEXTS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const satisfies readonly (keyof PodSecurityContext)[];
const NOT_IN_WINDOWS_CONTAINERS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const satisfies readonly (keyof SecurityContext)[];

function windows(spec: PodSpec, path: string): readonly FieldError[] {
  const { securityContext: context = {} } = spec;
  const at = `${path}.securityContext`;
  const forbidden = (field: string): FieldError => forbiddenField(field, 'cannot be set for a windows pod');
  return [
    ...NOT_IN_WINDOWS_PODS.filter((name) => spec[name] !== undefined).map((name) =>
      forbidden(`${path}.${name}`),
    ),
    ...NOT_TRUE_IN_WINDOWS_PODS.filter((name) => spec[name] === true).map((name) =>
      forbidden(`${path}.${name}`),
    ),
    ...NOT_IN_WINDOWS_CONTEXTS.filter((name) => context[name] !== undefined).map((name) =>
      forbidden(`${at}.${name}`),
    ),
    ...((context.sysctls ?? []).length > 0 ? [forbidden(`${at}.sysctls`)] : []),
    ...forEachContainer(spec, path, ({ securityContext: own = {} }, place) =>
      NOT_IN_WINDOWS_CONTAINERS.filter((name) => own[name] !== undefined).map((name) =>
        forbidden(`${place}.securityContext.${name}`),
      ),
    ),
  ];
}

/** Containers of Windows that run as processes of the host: all of them or none, and in the host's network. */
export function validateHostProcesses(spec: PodSpec, path: string): readonly FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let processes = 0;
  const errors = forEachContainer(spec, path, ({ securityContext }, at) => {
    const own = securityContext?.windowsOptions?.hostProcess;
    containers += 1;
    if (own ?? ofPod ?? false) processes += 1;
    if (ofPod === undefined || own === undefined || own === ofPod) return [];
    const why = `pod hostProcess value must be identical if both are specified, was ${String(ofPod)}`;
    return [invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, why)];
  });
  if (processes === 0) return errors;
  const all = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
  const network = 'hostNetwork must be true if pod contains any hostProcess containers';
  return [
    ...errors,
    ...(processes === containers ? [] : [invalid(path, '', all)]),
    ...(spec.hostNetwork === true ? [] : [invalid(`${path}.hostNetwork`, false, network)]),
  ];
}
