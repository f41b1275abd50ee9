import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';

/**
 * The spec of a pod as v1.21 keeps it: `serviceAccount` repeats `serviceAccountName`, and fields of features that are off in that
 * release (`terminationGracePeriodSeconds` of probes, `namespaceSelector` of affinity terms) are dropped; a `procMount` becomes the
 * default one.
 */
export function keptPodSpec(spec: Json): Json {
  const affinity = optionalRecord(spec['affinity']);
  return {
    ...spec,
    ...keptLists(spec),
    ...serviceAccountNames(spec),
    ...(affinity === undefined ? {} : { affinity: keptAffinity(affinity) }),
  };
}

/** The PodTemplateSpec with such a spec, where there is one. */
export function keptTemplate(template: unknown): unknown {
  const given = optionalRecord(template);
  if (given === undefined) return template;
  const spec = optionalRecord(given['spec']);
  return spec === undefined ? given : { ...given, spec: keptPodSpec(spec) };
}

function keptLists(spec: Json): Json {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'];
  return Object.fromEntries(
    lists
      .filter((list) => Array.isArray(spec[list]))
      .map((list) => [list, keptContainers(records(spec[list]))]),
  );
}

/** The list itself where nothing is dropped, so that it is known to be as it was stored. */
function keptContainers(containers: readonly Json[]): readonly Json[] {
  const kept = containers.map(keptContainer);
  return kept.every((each, at) => each === containers[at]) ? containers : kept;
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];

function keptContainer(container: Json): Json {
  const isKept =
    PROBES.every((name) => !('terminationGracePeriodSeconds' in record(container[name]))) &&
    record(container['securityContext'])['procMount'] === undefined;
  if (isKept) return container;
  const probes = PROBES.filter((name) => optionalRecord(container[name]) !== undefined).map((name) => [
    name,
    without(record(container[name]), 'terminationGracePeriodSeconds'),
  ]);
  const context = optionalRecord(container['securityContext']);
  return {
    ...container,
    ...(Object.fromEntries(probes) as Json),
    ...(context?.['procMount'] === undefined
      ? {}
      : { securityContext: { ...context, procMount: 'Default' } }),
  };
}

/** The new name wins; the old one is a copy of it. */
function serviceAccountNames(spec: Json): Json {
  const name = text(spec['serviceAccountName']) || text(spec['serviceAccount']);
  return name === '' ? {} : { serviceAccountName: name, serviceAccount: name };
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function keptAffinity(affinity: Json): Json {
  const kept = ['podAffinity', 'podAntiAffinity']
    .filter((name) => optionalRecord(affinity[name]) !== undefined)
    .map((name) => [name, keptPodAffinity(record(affinity[name]))]);
  return { ...affinity, ...(Object.fromEntries(kept) as Json) };
}

function keptPodAffinity(affinity: Json): Json {
  const required = affinity[REQUIRED];
  const preferred = affinity[PREFERRED];
  return {
    ...affinity,
    ...(required === undefined
      ? {}
      : { [REQUIRED]: records(required).map((term) => without(term, 'namespaceSelector')) }),
    ...(preferred === undefined
      ? {}
      : {
          [PREFERRED]: records(preferred).map((term) => ({
            ...term,
            podAffinityTerm: without(record(term['podAffinityTerm']), 'namespaceSelector'),
          })),
        }),
  };
}

function without(message: Json, field: string): Json {
  if (!Object.hasOwn(message, field)) return message;
  const { [field]: _dropped, ...rest } = message;
  return rest;
}
