import type {
  Affinity,
  Container,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  Probe,
} from '../../../../shared/api/types/core-v1';
import { deepEqual } from '../../../../shared/object/clone';
import type { KindSettings, WriteInfo } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';

/**
 * The spec of a pod as v1.21 keeps it: `serviceAccount` repeats `serviceAccountName`, and fields of features that are off
 * (`terminationGracePeriodSeconds` of probes, `namespaceSelector` of affinity terms) are dropped; a `procMount` becomes the default one.
 * What has had such fields `previous`ly keeps them: without them it would be another pod, to which nothing may change it.
 */
export function keptPodSpec(spec: PodSpec, settings: KindSettings, previous?: PodSpec): PodSpec {
  const { affinity, initContainers, containers, ephemeralContainers } = spec;
  const keeps: Keeps = (gate) => isOn(settings, gate) || (previous !== undefined && IN_USE[gate](previous));
  return {
    ...spec,
    ...(initContainers === undefined ? {} : { initContainers: keptContainers(initContainers, keeps) }),
    ...(containers === null ? {} : { containers: keptContainers(containers, keeps) }),
    ...(ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: keptContainers(ephemeralContainers, keeps) }),
    ...serviceAccountNames(spec),
    ...(affinity === undefined || keeps('PodAffinityNamespaceSelector')
      ? {}
      : { affinity: keptAffinity(affinity) }),
  };
}

/** The template with such a spec. Ephemeral containers are dropped while their feature is off, and refused by the rules while it is on. */
export function keptTemplate(
  template: PodTemplateSpec,
  { settings }: WriteInfo,
  previous?: PodTemplateSpec,
): PodTemplateSpec {
  const { spec } = template;
  const allowed = settings.ephemeralContainers ? spec : withoutEphemeral(spec);
  return { ...template, spec: keptPodSpec(allowed, settings, previous?.spec) };
}

type PodGate = 'PodAffinityNamespaceSelector' | 'ProbeTerminationGracePeriod' | 'ProcMountType';
type Keeps = (gate: PodGate) => boolean;

/** Those after which a container is stopped: others that have such a period are refused. */
const PROBES = ['livenessProbe', 'startupProbe'] as const;

/** Whether a pod has a field of a feature. */
const IN_USE: Readonly<Record<PodGate, (spec: PodSpec) => boolean>> = {
  PodAffinityNamespaceSelector: ({ affinity }) =>
    affinity !== undefined && !deepEqual(keptAffinity(affinity), affinity),
  ProbeTerminationGracePeriod: (spec) =>
    containersOf(spec).some((container) =>
      PROBES.some((name) => container[name]?.terminationGracePeriodSeconds !== undefined),
    ),
  ProcMountType: (spec) =>
    containersOf(spec).some(
      ({ securityContext: { procMount = DEFAULT_PROC_MOUNT } = {} }) => procMount !== DEFAULT_PROC_MOUNT,
    ),
};

const DEFAULT_PROC_MOUNT = 'Default';

function containersOf({
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: PodSpec): readonly Container[] {
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers];
}

/** The spec without its ephemeral containers. */
export function withoutEphemeral({ ephemeralContainers: _dropped, ...kept }: PodSpec): PodSpec {
  return kept;
}

/** The list itself where nothing is dropped, so that it is known to be as it was stored. */
function keptContainers<T extends Container>(containers: readonly T[], keeps: Keeps): readonly T[] {
  const kept = containers.map((container) => keptContainer(container, keeps));
  return kept.every((each, at) => each === containers[at]) ? containers : kept;
}

function keptContainer<T extends Container>(container: T, keeps: Keeps): T {
  const { securityContext } = container;
  const hasGrace = PROBES.filter((name) => container[name]?.terminationGracePeriodSeconds !== undefined);
  const probes = hasGrace.length === 0 || keeps('ProbeTerminationGracePeriod') ? [] : hasGrace;
  const isMountKept = securityContext?.procMount === undefined || keeps('ProcMountType');
  if (probes.length === 0 && isMountKept) return container;
  return {
    ...container,
    ...Object.fromEntries(probes.map((name) => [name, keptProbe(container[name] ?? {})])),
    ...(isMountKept ? {} : { securityContext: { ...securityContext, procMount: DEFAULT_PROC_MOUNT } }),
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
