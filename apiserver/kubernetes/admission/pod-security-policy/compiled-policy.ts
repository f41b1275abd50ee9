import type { Container, Pod } from '../../../../shared/api/types/core-v1';
import type { PodSecurityPolicy } from '../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { validateUntilLimit } from '../../../../shared/errors/field-error';
import { CONTAINER_LISTS, containersOf, effectiveContext } from './pod-context';
import { appArmorStrategies } from './strategies/app-armor';
import { capabilitiesStrategy } from './strategies/capabilities';
import { fsGroupStrategy, runAsGroupStrategy, supplementalGroupsStrategy } from './strategies/group';
import { hostNamespaceStrategy, hostPortStrategy } from './strategies/host';
import {
  escalationStrategy,
  privilegedStrategy,
  procMountStrategy,
  readOnlyRootStrategy,
} from './strategies/privilege';
import { runtimeClassStrategy } from './strategies/runtime-class';
import { seLinuxStrategies } from './strategies/se-linux';
import { seccompStrategies } from './strategies/seccomp';
import { sysctlStrategy } from './strategies/sysctl';
import { userStrategy } from './strategies/user';
import { volumeStrategy } from './strategies/volumes';
import type { ContainerStrategy, PodStrategy } from './strategy';

/** A compiled policy. */
export interface CompiledPolicy {
  readonly name: string;
  /** Returns the pod with defaults; the same pod if there are none. */
  fill(pod: Pod): Pod;
  /** Returns the violations of a pod with defaults. */
  problems(pod: Pod): readonly FieldError[];
}

/** Returns the parts of a policy in the order of their violations; undefined if its options are incomplete, which makes it unusable. */
export function compilePolicy(policy: PodSecurityPolicy): CompiledPolicy | undefined {
  const { spec, metadata } = policy;
  const seLinux = seLinuxStrategies(spec.seLinux);
  const appArmor = appArmorStrategies(policy);
  const seccomp = seccompStrategies(policy);
  const ofPod = complete<PodStrategy>([
    fsGroupStrategy(spec.fsGroup),
    supplementalGroupsStrategy(spec.supplementalGroups),
    seccomp.ofPod,
    seLinux?.ofPod,
    appArmor.ofPod,
    hostNamespaceStrategy(spec),
    sysctlStrategy(spec),
    volumeStrategy(spec),
    runtimeClassStrategy(spec),
  ]);
  const ofContainer = complete<ContainerStrategy>([
    userStrategy(spec.runAsUser),
    runAsGroupStrategy(spec.runAsGroup),
    seLinux?.ofContainer,
    appArmor.ofContainer,
    seccomp.ofContainer,
    privilegedStrategy(spec),
    procMountStrategy(spec),
    capabilitiesStrategy(spec),
    hostPortStrategy(spec),
    readOnlyRootStrategy(spec),
    escalationStrategy(spec),
  ]);
  if (ofPod === undefined || ofContainer === undefined) return undefined;
  return {
    name: metadata.name ?? '',
    fill: (pod) => withContainersFilled(filled(pod, ofPod), ofContainer),
    problems: (pod) => [
      ...ofPod.flatMap(({ problems }) => problems?.(pod) ?? []),
      ...validateUntilLimit(containersOf(pod), ({ container, path }) => {
        const effective = effectiveContext(pod, container);
        return ofContainer.flatMap(({ problems }) => problems?.({ pod, container, effective, path }) ?? []);
      }),
    ],
  };
}

function complete<T>(parts: readonly (T | undefined)[]): readonly T[] | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? known : undefined;
}

function filled(pod: Pod, strategies: readonly PodStrategy[]): Pod {
  return strategies.reduce((current, { fill }) => fill?.(current) ?? current, pod);
}

function withContainersFilled(pod: Pod, strategies: readonly ContainerStrategy[]): Pod {
  const changed: Partial<Record<(typeof CONTAINER_LISTS)[number], readonly Container[]>> = {};
  for (const list of CONTAINER_LISTS) {
    const before: readonly Container[] = pod.spec[list] ?? [];
    const after = before.map((container) => filledContainer(pod, container, strategies));
    if (after.some((container, index) => container !== before[index])) changed[list] = after;
  }
  if (Object.keys(changed).length === 0) return pod;
  return { ...pod, spec: { ...pod.spec, ...changed } };
}

function filledContainer(
  pod: Pod,
  container: Container,
  strategies: readonly ContainerStrategy[],
): Container {
  let current = container;
  for (const { fill } of strategies) {
    const added = fill?.(effectiveContext(pod, current)) ?? {};
    if (Object.keys(added).length === 0) continue;
    current = { ...current, securityContext: { ...current.securityContext, ...added } };
  }
  return current;
}
