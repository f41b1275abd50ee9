import type { Container, Pod, ResourceRequirements } from '../../../../shared/api/types/core-v1';
import type { ResourceList } from '../../../../shared/quota/amounts';
import { ANNOTATION } from '../../../../shared/names';
import { withSpec } from './with-spec';

/** Defaults of containers, by resource. */
export interface ContainerDefaults {
  readonly limits: ResourceList;
  readonly requests: ResourceList;
}

const LISTS = [
  { field: 'containers', called: 'container' },
  { field: 'initContainers', called: 'init container' },
] as const;

/** Returns the pod with defaults in its containers and an annotation that lists them. */
export function withContainerDefaults(pod: Pod, defaults: ContainerDefaults): Pod {
  const notes: string[] = [];
  const fields: Partial<Record<'containers' | 'initContainers', readonly Container[]>> = {};
  for (const { field, called } of LISTS) {
    const containers = pod.spec[field] ?? [];
    if (containers.length === 0) continue;
    fields[field] = containers.map((container) => {
      const { resources, set } = filled(container.resources, defaults);
      const name = `${called} ${container.name}`;
      for (const [kind, names] of set) {
        if (names.length > 0) notes.push(`${names.join(', ')} ${kind} for ${name}`);
      }
      return { ...container, resources };
    });
  }
  return notes.length === 0 ? pod : annotated(withSpec(pod, fields), notes);
}

interface Filled {
  readonly resources: ResourceRequirements;
  /** Names of the defaulted resources, in the order of the annotation. */
  readonly set: readonly (readonly [kind: 'request' | 'limit', names: readonly string[]])[];
}

function filled(resources: ResourceRequirements, defaults: ContainerDefaults): Filled {
  const { limits = {}, requests = {} } = resources;
  const missing = (given: ResourceList, wanted: ResourceList): string[] =>
    Object.keys(wanted)
      .filter((name) => !Object.hasOwn(given, name))
      .sort();
  const set = [
    ['request', missing(requests, defaults.requests)],
    ['limit', missing(limits, defaults.limits)],
  ] as const;
  const merged = {
    limits: { ...defaults.limits, ...limits },
    requests: { ...defaults.requests, ...requests },
  };
  const named = Object.entries(merged).filter(([, amounts]) => Object.keys(amounts).length > 0);
  return { resources: { ...resources, ...(Object.fromEntries(named) as ResourceRequirements) }, set };
}

/** A second range replaces the annotation of the first one, as in Kubernetes. */
function annotated(pod: Pod, notes: readonly string[]): Pod {
  const { metadata } = pod;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATION.limitRanger]: note } },
  };
}
