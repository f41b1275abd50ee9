import type { Container, Pod, ResourceRequirements } from '../../../../shared/api/types/core-v1';
import type { ResourceList } from '../../../../shared/quota/amounts';
import { ANNOTATION } from '../../../../shared/names';
import { withSpec } from './with-spec';

/** What a container gets that does not say itself, by resource. */
export interface ContainerDefaults {
  readonly limits: ResourceList;
  readonly requests: ResourceList;
}

const LISTS = [
  { field: 'containers', called: 'container' },
  { field: 'initContainers', called: 'init container' },
] as const;

/** The pod with the defaults in its containers, and an annotation that says which they got. */
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
  /** Names of the resources that were filled in, in the order in which they are told. */
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

/** A second range that fills in more says so in the place of the first one, as in Kubernetes. */
function annotated(pod: Pod, notes: readonly string[]): Pod {
  const { metadata } = pod;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATION.limitRanger]: note } },
  };
}
