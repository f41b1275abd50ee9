import type { Container, EphemeralContainer, PodSpec } from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notFoundField,
  required,
} from '../../../../shared/errors/field-error';
import { isZero } from '../../../../shared/object/accessors';
import type { KindSettings } from '../../../engine/registry/strategy';
import { hostPortConflicts, validateContainerPorts } from './container-ports';
import { validateEnv, validateEnvFrom } from './env';
import { forEachItem, needed, requiredChoice, requiredDnsLabel } from '../rules/primitives';
import { noGracePeriod, oneSuccess, validateLifecycle, validateProbe } from './probes';
import { validateClaimNames } from './resource-claims';
import { validateResourceRequirements } from './resource-requirements';
import {
  isSidecar,
  validateInitResizePolicy,
  validateResizePolicy,
  validateRestartPolicy,
} from './restart-policies';
import { validateSecurityContext } from './security-context';
import type { Volumes } from './volume-mounts';
import { validateMounts } from './volume-mounts';

/** When an image is fetched, in sorted order. */
export const PULL_POLICIES: readonly string[] = ['Always', 'IfNotPresent', 'Never'];

/** All containers of a pod. `path` is that of the spec. */
export function validateContainers(pod: PodParts, path: string): FieldError[] {
  const { spec } = pod;
  const containers = spec.containers ?? [];
  const { initContainers: init = [] } = spec;
  return [
    ...containerList(containers, `${path}.containers`, (container, at) => [
      ...oneContainer(container, at, pod, validateHandlers(container, at, spec)),
      ...validateRestartPolicy(container, at),
    ]),
    ...hostPortConflicts(containers, `${path}.containers`),
    ...(init.length === 0
      ? []
      : containerList(init, `${path}.initContainers`, (container, at) =>
          oneContainer(container, at, pod, handlersOfInitContainer(container, at, spec)),
        )),
    // They run one after the other, so that each has the ports for itself. Upstream calls each of them the first.
    ...init.flatMap((container) => hostPortConflicts([container], `${path}.initContainers`)),
    ...initContainers(init, `${path}.initContainers`, namesOf(containers)),
    ...validateEphemeralContainers(pod, `${path}.ephemeralContainers`),
  ];
}

function containerList(
  containers: readonly Container[],
  path: string,
  rule: (container: Container, path: string) => readonly FieldError[],
): FieldError[] {
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  return forEachItem(containers, path, (container, at) => {
    const { name } = container;
    const again = names.has(name);
    names.add(name);
    return [...(again ? [duplicate(`${at}.name`, name)] : []), ...rule(container, at)];
  });
}

/** What the rules of a container look up in its pod. */
export interface PodParts {
  readonly spec: PodSpec;
  readonly volumes: Volumes;
  readonly settings: KindSettings;
}

/** What holds for containers of all lists, and the errors of `handlers` at their place. */
function oneContainer(
  container: Container,
  path: string,
  { spec, volumes, settings }: PodParts,
  handlers: readonly FieldError[],
): FieldError[] {
  const areLast = isInForce('handlersAreLast');
  return [
    ...requiredDnsLabel(container.name, `${path}.name`),
    ...needed(container.image, `${path}.image`),
    ...(areLast ? [] : handlers),
    ...terminationMessagePolicy(container.terminationMessagePolicy ?? '', `${path}.terminationMessagePolicy`),
    ...validateContainerPorts(container.ports, `${path}.ports`),
    ...validateEnv(container.env, `${path}.env`, settings),
    ...validateEnvFrom(container.envFrom, `${path}.envFrom`, settings),
    ...validateMounts(container, path, volumes),
    ...requiredChoice(container.imagePullPolicy, `${path}.imagePullPolicy`, PULL_POLICIES),
    ...validateResourceRequirements(container.resources, `${path}.resources`),
    ...validateClaimNames(container.resources.claims, `${path}.resources.claims`, spec),
    ...validateResizePolicy(container.resizePolicy, `${path}.resizePolicy`, spec.restartPolicy),
    ...validateSecurityContext(container.securityContext, `${path}.securityContext`, spec),
    ...(areLast ? handlers : []),
  ];
}

/** When a container may be used, and what the node agent calls in it. */
function validateHandlers(container: Container, path: string, spec: PodSpec): FieldError[] {
  return [
    ...validateLifecycle(container.lifecycle, `${path}.lifecycle`, spec),
    ...validateProbe(container.livenessProbe, `${path}.livenessProbe`),
    ...noGracePeriod(container.readinessProbe, `${path}.readinessProbe`),
    ...validateProbe(container.startupProbe, `${path}.startupProbe`),
    ...oneSuccess(container.livenessProbe, `${path}.livenessProbe`),
    ...oneSuccess(container.startupProbe, `${path}.startupProbe`),
    ...validateProbe(container.readinessProbe, `${path}.readinessProbe`),
  ];
}

function terminationMessagePolicy(policy: string, path: string): FieldError[] {
  if (isInForce('terminationMessagePolicies')) return requiredChoice(policy, path, MESSAGE_POLICIES);
  const why = "must be 'File' or 'FallbackToLogsOnError'";
  if (policy === '') return [required(path, why)];
  return policy === 'File' || policy === 'FallbackToLogsOnError' ? [] : [invalid(path, policy, why)];
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

const NOT_FOR_INIT = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** What holds for init containers alone. */
function initContainers(
  containers: readonly Container[],
  path: string,
  others: ReadonlySet<string>,
): FieldError[] {
  const taken = new Set(others);
  const isForbidden = isInForce('initContainerHandlers');
  return forEachItem(containers, path, (container, at) => {
    const isLasting = isSidecar(container);
    const given =
      isLasting || isForbidden ? [] : NOT_FOR_INIT.filter((name) => container[name] !== undefined);
    return [
      ...takenName(container.name, `${at}.name`, taken),
      ...given.map((name) =>
        invalid(`${at}.${name}`, container[name], 'must not be set for init containers'),
      ),
      ...validateRestartPolicy(container, at),
      ...(isLasting ? [] : validateInitResizePolicy(container.resizePolicy, `${at}.resizePolicy`)),
    ];
  });
}

/** Init containers that run as long as the pod does have handlers; those that end have none. */
function handlersOfInitContainer(container: Container, path: string, spec: PodSpec): readonly FieldError[] {
  if (isSidecar(container) || !isInForce('initContainerHandlers')) {
    return validateHandlers(container, path, spec);
  }
  const why = 'may not be set for init containers without restartPolicy=Always';
  return NOT_FOR_INIT.filter((name) => container[name] !== undefined).map((name) =>
    forbiddenField(`${path}.${name}`, why),
  );
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
export function validateEphemeralContainers(pod: PodParts, path: string): FieldError[] {
  const { spec } = pod;
  const others = namesOf([...(spec.containers ?? []), ...(spec.initContainers ?? [])]);
  const names = new Set(others);
  const isNewer = isInForce('ephemeralContainerRules');
  return forEachItem(spec.ephemeralContainers ?? [], path, (container, at) => {
    const { name, targetContainerName: target = '' } = container;
    const targets =
      target === '' || (isNewer ? others : names).has(target)
        ? []
        : [notFoundField(`${at}.targetContainerName`, target)];
    if (name === '' && !isNewer) return [...targets, required(at, 'ephemeralContainer requires a name')];
    const again = names.has(name);
    names.add(name);
    return [
      ...targets,
      ...oneContainer(container, at, pod, isNewer ? [] : validateHandlers(container, at, spec)),
      ...(isNewer ? mountedParts(container, `${at}.volumeMounts`) : []),
      ...(again ? [duplicate(`${at}.name`, name)] : []),
      ...Object.entries(container)
        .filter(
          ([field, value]) =>
            !FOR_EPHEMERAL.has(field) && (!isZero(value) || (isNewer && POINTERS.has(field))),
        )
        .map(([field]) => forbiddenField(`${at}.${field}`, NOT_FOR_EPHEMERAL)),
    ];
  });
}

/** Fields that are set even if they are empty. */
const POINTERS: ReadonlySet<string> = new Set([
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'restartPolicy',
  'startupProbe',
]);

const NOT_FOR_EPHEMERAL = 'cannot be set for an Ephemeral Container';

/** Mounts of parts of a volume are cleaned up only with the pod. */
function mountedParts({ volumeMounts = [] }: EphemeralContainer, path: string): readonly FieldError[] {
  return forEachItem(volumeMounts, path, (mount, at) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((name) => (mount[name] ?? '') !== '')
      .map((name) => forbiddenField(`${at}.${name}`, NOT_FOR_EPHEMERAL)),
  );
}

function namesOf(containers: readonly Container[]): ReadonlySet<string> {
  return new Set(containers.map(({ name }) => name));
}
