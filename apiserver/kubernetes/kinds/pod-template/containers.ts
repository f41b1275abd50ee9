import type { Container, EphemeralContainer, PodSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notFoundField,
  required,
} from '../../../../shared/errors/field-error';
import { isZero } from '../../../../shared/object/accessors';
import { hostPortConflicts, validateContainerPorts } from './container-ports';
import { validateEnv, validateEnvFrom } from './env';
import { forEachItem, needed, requiredChoice, requiredDnsLabel } from '../rules/primitives';
import { noGracePeriod, oneSuccess, validateLifecycle, validateProbe } from './probes';
import { validateResourceRequirements } from './resource-requirements';
import { validateSecurityContext } from './security-context';
import type { Volumes } from './volume-mounts';
import { validateMounts } from './volume-mounts';

/** All containers of a pod. `path` is that of the spec. */
export function validateContainers(spec: PodSpec, path: string, volumes: Volumes): FieldError[] {
  const containers = spec.containers ?? [];
  const { initContainers: init = [] } = spec;
  return [
    ...containerList(containers, `${path}.containers`, volumes),
    ...hostPortConflicts(containers, `${path}.containers`),
    ...(init.length === 0 ? [] : containerList(init, `${path}.initContainers`, volumes)),
    // They run one after the other, so that each has the ports for itself. Upstream calls each of them the first.
    ...init.flatMap((container) => hostPortConflicts([container], `${path}.initContainers`)),
    ...initContainers(init, `${path}.initContainers`, namesOf(containers)),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, volumes),
  ];
}

function containerList(containers: readonly Container[], path: string, volumes: Volumes): FieldError[] {
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  return forEachItem(containers, path, (container, at) => {
    const { name } = container;
    const again = names.has(name);
    names.add(name);
    return [...(again ? [duplicate(`${at}.name`, name)] : []), ...oneContainer(container, at, volumes)];
  });
}

function oneContainer(container: Container, path: string, volumes: Volumes): FieldError[] {
  return [
    ...requiredDnsLabel(container.name, `${path}.name`),
    ...needed(container.image, `${path}.image`),
    ...validateLifecycle(container.lifecycle, `${path}.lifecycle`),
    ...validateProbe(container.livenessProbe, `${path}.livenessProbe`),
    ...noGracePeriod(container.readinessProbe, `${path}.readinessProbe`),
    ...validateProbe(container.startupProbe, `${path}.startupProbe`),
    ...oneSuccess(container.livenessProbe, `${path}.livenessProbe`),
    ...oneSuccess(container.startupProbe, `${path}.startupProbe`),
    ...terminationMessagePolicy(container.terminationMessagePolicy ?? '', `${path}.terminationMessagePolicy`),
    ...validateProbe(container.readinessProbe, `${path}.readinessProbe`),
    ...validateContainerPorts(container.ports, `${path}.ports`),
    ...validateEnv(container.env, `${path}.env`),
    ...validateEnvFrom(container.envFrom, `${path}.envFrom`),
    ...validateMounts(container, path, volumes),
    ...requiredChoice(container.imagePullPolicy, `${path}.imagePullPolicy`, [
      'Always',
      'IfNotPresent',
      'Never',
    ]),
    ...validateResourceRequirements(container.resources, `${path}.resources`),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`),
  ];
}

function terminationMessagePolicy(policy: string, path: string): FieldError[] {
  const why = "must be 'File' or 'FallbackToLogsOnError'";
  if (policy === '') return [required(path, why)];
  return policy === 'File' || policy === 'FallbackToLogsOnError' ? [] : [invalid(path, policy, why)];
}

const NOT_FOR_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function initContainers(
  containers: readonly Container[],
  path: string,
  others: ReadonlySet<string>,
): FieldError[] {
  const taken = new Set(others);
  return forEachItem(containers, path, (container, at) => [
    ...takenName(container.name, `${at}.name`, taken),
    ...NOT_FOR_INIT.filter((name) => container[name] !== undefined).map((name) =>
      invalid(`${at}.${name}`, container[name], 'must not be set for init containers'),
    ),
  ]);
}

function takenName(name: string, path: string, taken: Set<string>): FieldError[] {
  if (taken.has(name)) return [duplicate(path, name)];
  if (name !== '') taken.add(name);
  return [];
}

/** Containers that are added to a running pod must not be relied upon, so they have no ports, resources or probes. */
const FOR_EPHEMERAL: ReadonlySet<string> = new Set<keyof EphemeralContainer>([
  'name',
  'image',
  'command',
  'args',
  'workingDir',
  'envFrom',
  'env',
  'volumeMounts',
  'volumeDevices',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'imagePullPolicy',
  'securityContext',
  'stdin',
  'stdinOnce',
  'tty',
  'targetContainerName',
]);

/** The ephemeral containers of the spec; `path` is that of their list. */
export function validateEphemeralContainers(spec: PodSpec, path: string, volumes: Volumes): FieldError[] {
  const names = new Set([...namesOf(spec.containers ?? []), ...namesOf(spec.initContainers ?? [])]);
  return forEachItem(spec.ephemeralContainers ?? [], path, (container, at) => {
    const { name, targetContainerName: target = '' } = container;
    const targets =
      target === '' || names.has(target) ? [] : [notFoundField(`${at}.targetContainerName`, target)];
    if (name === '') return [...targets, required(at, 'ephemeralContainer requires a name')];
    const again = names.has(name);
    names.add(name);
    return [
      ...targets,
      ...oneContainer(container, at, volumes),
      ...(again ? [duplicate(`${at}.name`, name)] : []),
      ...Object.entries(container)
        .filter(([field, value]) => !FOR_EPHEMERAL.has(field) && !isZero(value))
        .map(([field]) => forbiddenField(`${at}.${field}`, 'cannot be set for an Ephemeral Container')),
    ];
  });
}

function namesOf(containers: readonly Container[]): ReadonlySet<string> {
  return new Set(containers.map(({ name }) => name));
}
