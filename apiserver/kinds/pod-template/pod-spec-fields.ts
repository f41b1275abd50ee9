import type {
  Affinity,
  Container,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  Probe,
} from '../../../shared/api/types/core-v1';
import type { KindSettings, WriteInfo } from '../../registry/strategy';
import { isOn } from '../field-gates';

/**
 * The spec of a pod as v1.21 keeps it: `serviceAccount` repeats `serviceAccountName`, and fields of features that are off
 * (`terminationGracePeriodSeconds` of probes, `namespaceSelector` of affinity terms) are dropped; a `procMount` becomes the default one.
 */
export function keptPodSpec(spec: PodSpec, settings: KindSettings): PodSpec {
  const { affinity, initContainers, containers, ephemeralContainers } = spec;
  return {
    ...spec,
    ...(initContainers === undefined ? {} : { initContainers: keptContainers(initContainers, settings) }),
    ...(containers === null ? {} : { containers: keptContainers(containers, settings) }),
    ...(ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: keptContainers(ephemeralContainers, settings) }),
    ...serviceAccountNames(spec),
    ...(affinity === undefined || isOn(settings, 'PodAffinityNamespaceSelector')
      ? {}
      : { affinity: keptAffinity(affinity) }),
  };
}

/** The template with such a spec. Ephemeral containers are dropped while their feature is off, and refused by the rules while it is on. */
export function keptTemplate(template: PodTemplateSpec, { settings }: WriteInfo): PodTemplateSpec {
  const { spec } = template;
  const allowed = settings.ephemeralContainers ? spec : withoutEphemeral(spec);
  return { ...template, spec: keptPodSpec(allowed, settings) };
}

/** The spec without its ephemeral containers. */
export function withoutEphemeral({ ephemeralContainers: _dropped, ...kept }: PodSpec): PodSpec {
  return kept;
}

/** The list itself where nothing is dropped, so that it is known to be as it was stored. */
function keptContainers<T extends Container>(containers: readonly T[], settings: KindSettings): readonly T[] {
  const kept = containers.map((container) => keptContainer(container, settings));
  return kept.every((each, at) => each === containers[at]) ? containers : kept;
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function keptContainer<T extends Container>(container: T, settings: KindSettings): T {
  const { securityContext } = container;
  const probes = isOn(settings, 'ProbeTerminationGracePeriod')
    ? []
    : PROBES.filter((name) => container[name]?.terminationGracePeriodSeconds !== undefined);
  const isMountKept = securityContext?.procMount === undefined || isOn(settings, 'ProcMountType');
  if (probes.length === 0 && isMountKept) return container;
  return {
    ...container,
    ...Object.fromEntries(probes.map((name) => [name, keptProbe(container[name] ?? {})])),
    ...(isMountKept ? {} : { securityContext: { ...securityContext, procMount: 'Default' } }),
  };
}

function keptProbe({ terminationGracePeriodSeconds: _dropped, ...kept }: Probe): Probe {
  return kept;
}

/** The new name wins; the old one is a copy of it. */
function serviceAccountNames({
  serviceAccountName = '',
  serviceAccount = '',
}: PodSpec): Pick<PodSpec, 'serviceAccountName' | 'serviceAccount'> {
  const name = serviceAccountName || serviceAccount;
  return name === '' ? {} : { serviceAccountName: name, serviceAccount: name };
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function keptAffinity(affinity: Affinity): Affinity {
  const { podAffinity, podAntiAffinity } = affinity;
  return {
    ...affinity,
    ...(podAffinity === undefined ? {} : { podAffinity: keptPodAffinity(podAffinity) }),
    ...(podAntiAffinity === undefined ? {} : { podAntiAffinity: keptPodAffinity(podAntiAffinity) }),
  };
}

function keptPodAffinity(affinity: PodAffinity): PodAffinity {
  const { [REQUIRED]: required, [PREFERRED]: preferred } = affinity;
  return {
    ...affinity,
    ...(required === undefined ? {} : { [REQUIRED]: required.map(keptTerm) }),
    ...(preferred === undefined
      ? {}
      : {
          [PREFERRED]: preferred.map((term) => ({
            ...term,
            podAffinityTerm: keptTerm(term.podAffinityTerm),
          })),
        }),
  };
}

function keptTerm(term: PodAffinityTerm): PodAffinityTerm {
  if (term.namespaceSelector === undefined) return term;
  const { namespaceSelector: _dropped, ...kept } = term;
  return kept;
}
