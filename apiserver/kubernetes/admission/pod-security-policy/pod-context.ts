import type {
  Container,
  Pod,
  PodSecurityContext,
  SecurityContext,
} from '../../../../shared/api/types/core-v1';

/** Returns the pod with these fields of its security context. */
export function withPodContext(pod: Pod, fields: PodSecurityContext): Pod {
  return { ...pod, spec: { ...pod.spec, securityContext: { ...pod.spec.securityContext, ...fields } } };
}

/** Returns the pod with additional annotations. */
export function withAnnotations(pod: Pod, annotations: Readonly<Record<string, string>>): Pod {
  const { metadata } = pod;
  return { ...pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
}

/** Returns the effective context of a container: its own fields over the pod's. */
export function effectiveContext(pod: Pod, { securityContext: own }: Container): SecurityContext {
  return { ...inherited(pod.spec.securityContext ?? {}), ...own };
}

const INHERITED = ['seLinuxOptions', 'runAsUser', 'runAsGroup', 'runAsNonRoot'] as const;

function inherited(context: PodSecurityContext): SecurityContext {
  const fields = INHERITED.filter((field) => context[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field, context[field]])) as SecurityContext;
}

export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export interface PlacedContainer {
  readonly container: Container;
  readonly path: string;
}

/** Returns all containers of a pod with their paths. */
export function containersOf({ spec }: Pod): readonly PlacedContainer[] {
  return CONTAINER_LISTS.flatMap((list) => {
    const containers: readonly Container[] = spec[list] ?? [];
    return containers.map((container, index) => ({ container, path: `spec.${list}[${String(index)}]` }));
  });
}
