import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';
import type { Json } from '../../../shared/object/accessors';
import { record, records, text } from '../../../shared/object/accessors';
import { specOf, withSpec } from './with-spec';

/** What a container gets that does not say itself, by resource. */
export interface ContainerDefaults {
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
}

const LISTS = [
  { field: 'containers', called: 'container' },
  { field: 'initContainers', called: 'init container' },
] as const;

/** The pod with the defaults in its containers, and an annotation that says which they got. */
export function withContainerDefaults(pod: ApiObject, defaults: ContainerDefaults): ApiObject {
  const notes: string[] = [];
  const fields: Record<string, unknown> = {};
  for (const { field, called } of LISTS) {
    const containers = records(specOf(pod)[field]);
    if (containers.length === 0) continue;
    fields[field] = containers.map((container) => {
      const { resources, set } = filled(record(container['resources']), defaults);
      const name = `${called} ${text(container['name'])}`;
      for (const [kind, names] of set) {
        if (names.length > 0) notes.push(`${names.join(', ')} ${kind} for ${name}`);
      }
      return { ...container, resources };
    });
  }
  return notes.length === 0 ? pod : annotated(withSpec(pod, fields), notes);
}

interface Filled {
  readonly resources: Json;
  /** Names of the resources that were filled in, in the order in which they are told. */
  readonly set: readonly (readonly [kind: 'request' | 'limit', names: readonly string[]])[];
}

function filled(resources: Json, defaults: ContainerDefaults): Filled {
  const limits = record(resources['limits']);
  const requests = record(resources['requests']);
  const missing = (given: Json, wanted: Readonly<Record<string, string>>): string[] =>
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
  return { resources: { ...resources, ...(Object.fromEntries(named) as Json) }, set };
}

/** A second range that fills in more says so in the place of the first one, as in Kubernetes. */
function annotated(pod: ApiObject, notes: readonly string[]): ApiObject {
  const { metadata } = pod;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATION.limitRanger]: note } },
  };
}
