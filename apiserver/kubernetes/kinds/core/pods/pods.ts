import { isInForce } from '../../../../../shared/api/changes';
import type { Pod } from '../../../../../shared/api/types/core-v1';
import { withNextGeneration } from '../../../../../shared/meta/generation';
import { isSemanticallyEqual } from '../../../../../shared/schema/same-meaning';
import { messageType } from '../../../../../shared/schema/types';
import type { Strategy, SubresourceStrategy } from '../../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../../engine/registry/strategy';
import { isOn } from '../../field-gates';
import type { Kind } from '../../kind';
import { withLabelKeys } from '../../pod-template/label-keys';
import { keptPodSpec, withoutEphemeral } from '../../pod-template/pod-spec-fields';
import { privilegeRule } from '../../pod-template/privileged-containers';
import { bindPod } from '../bindings';
import { attachToPod, execInPod, forwardToPod, logOfPod } from '../connect/connect-pods';
import { proxyToPod } from '../connect/connect-proxies';
import { ephemeralContainersView } from './ephemeral-containers';
import { evictPod } from './evict-pod';
import { qosClassOf } from './pod-qos';
import { resizedSpec, validatePodResize } from './pod-resize';
import { podRules, validateEphemeralContainersUpdate } from './pod-rules';
import { withAppArmorFields, withSeccompTwins } from './pod-seccomp';
import { validatePodStatusUpdate } from './pod-status-rules';
import { podRowConditions, podTable } from './pod-table';

const DEFAULT_GRACE_SECONDS = 30;

/** The node agent writes the status; the owners of a pod and its deletion are not its business. */
const podStatus: SubresourceStrategy<Pod> = {
  prepareForUpdate(next, previous) {
    const updated = statusSubresource.prepareForUpdate(next, previous);
    const { ownerReferences: _claimed, deletionTimestamp: _marked, ...metadata } = updated.metadata;
    const { ownerReferences, deletionTimestamp } = previous.metadata;
    const qosClass = previous.status?.qosClass;
    // Older node agents drop the class.
    const keepsClass =
      isInForce('podStatusRules') && qosClass !== undefined && (updated.status?.qosClass ?? '') === '';
    return {
      ...updated,
      ...(keepsClass ? { status: { ...updated.status, qosClass } } : {}),
      metadata: {
        ...metadata,
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      },
    };
  },
  validateUpdate: validatePodStatusUpdate,
};

/** Only the list changes, and only by growing. */
const ephemeralContainersUpdate: SubresourceStrategy<Pod> = {
  prepareForUpdate(next, previous, { settings }) {
    const { ephemeralContainers: wanted } = next.spec;
    const spec =
      wanted === undefined
        ? withoutEphemeral(previous.spec)
        : { ...previous.spec, ephemeralContainers: wanted };
    const changed = {
      ...previous,
      metadata: next.metadata,
      spec: keptPodSpec(spec, settings, previous.spec),
    };
    return withPodGeneration(changed, previous);
  },
  validateUpdate: (next, previous, { settings }) => [
    ...validateEphemeralContainersUpdate(next, previous, settings),
    ...privilegeRule(next.spec, { path: 'spec', settings, lists: ['ephemeralContainers'] }),
  ],
};

/** The next generation, where the spec differs. */
function withPodGeneration(next: Pod, previous: Pod): Pod {
  if (!isInForce('podGenerations') || isSemanticallyEqual(POD_SPEC, next.spec, previous.spec)) return next;
  return withNextGeneration(next, previous);
}

const POD_SPEC = messageType('core/v1.PodSpec');

/** Only resources and what happens when they change. Other lists of containers are left for validation to refuse. */
const podResize: SubresourceStrategy<Pod> = {
  prepareForUpdate(next, previous, { settings }) {
    const spec = resizedSpec(next.spec, previous.spec, {
      ofPod: isOn(settings, 'InPlacePodLevelResourcesVerticalScaling'),
    });
    const changed = {
      ...previous,
      metadata: next.metadata,
      spec: keptPodSpec(spec, settings, previous.spec),
    };
    return withPodGeneration(changed, previous);
  },
  validateUpdate: (next, previous, { settings }) => [
    ...validatePodResize(next, previous, settings),
    ...privilegeRule(next.spec, { path: 'spec', settings }),
  ],
};

/** What a pod with scheduling gates says until they are gone. */
const SCHEDULING_GATED = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
} as const;

/** A pod that no node runs goes at once; one that was bound gets its grace period, at the end of which its node agent removes it. */
const podStrategy: Strategy<Pod> = {
  ...podRules,
  compat: { returnsDeletedObject: true },
  resets: { status: ['metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  selectableFields: {
    'spec.nodeName': '',
    'spec.restartPolicy': '',
    'spec.schedulerName': '',
    'spec.serviceAccountName': '',
    'status.phase': '',
    'status.podIP': '',
    // Accepted, and empty whatever the pod's addresses are: so is it upstream.
    'status.podIPs': '',
    'status.nominatedNodeName': '',
    ...(isInForce('podHostNetworkSelector') ? { 'spec.hostNetwork': 'false' } : {}),
  },
  indexedFields: ['spec.nodeName'],
  tracksGeneration: isInForce('podGenerations'),
  prepareForCreate(pod, { settings }) {
    const allowed = settings.ephemeralContainers ? pod.spec : withoutEphemeral(pod.spec);
    const spec = withLabelKeys(keptPodSpec(allowed, settings), pod.metadata.labels ?? {}, settings);
    const plain = { ...pod, spec };
    const kept = isInForce('seccompFieldsOnly') ? withAppArmorFields(plain) : withSeccompTwins(plain);
    return withStatus(kept, {
      phase: 'Pending',
      ...((spec.schedulingGates ?? []).length === 0 ? {} : { conditions: [SCHEDULING_GATED] }),
      qosClass: qosClassOf(kept.spec),
    });
  },
  /** What a pod got while its feature was on it keeps. */
  prepareForUpdate(next, previous, { settings }) {
    const { spec } = next;
    const hasThem = (previous.spec.ephemeralContainers ?? []).length > 0;
    const isKept = settings.ephemeralContainers || hasThem;
    return { ...next, spec: keptPodSpec(isKept ? spec : withoutEphemeral(spec), settings, previous.spec) };
  },
  graceSeconds({ spec, status: { phase } = {} }, requested) {
    if ((spec.nodeName ?? '') === '') return 0;
    if (phase === 'Failed' || phase === 'Succeeded') return 0;
    const own = spec.terminationGracePeriodSeconds;
    const seconds = requested ?? (typeof own === 'number' ? own : DEFAULT_GRACE_SECONDS);
    return seconds < 0 && isInForce('negativeGracePeriods') ? 1 : seconds;
  },
  subresources: {
    status: podStatus,
    ephemeralcontainers: ephemeralContainersUpdate,
    resize: podResize,
  },
};

export const pods: Kind<Pod> = {
  strategy: podStrategy,
  table: podTable,
  rowConditions: podRowConditions,
  subresources: {
    attach: { is: 'connection', to: attachToPod },
    binding: { is: 'operation', run: bindPod },
    ...(isInForce('ephemeralContainersOfPods')
      ? {}
      : {
          ephemeralcontainers: {
            is: 'view',
            view: ephemeralContainersView,
            isServed: ({ ephemeralContainers }) => ephemeralContainers,
          },
        }),
    eviction: { is: 'operation', run: evictPod },
    exec: { is: 'connection', to: execInPod },
    log: { is: 'connection', to: logOfPod },
    portforward: { is: 'connection', to: forwardToPod },
    proxy: { is: 'connection', to: proxyToPod },
  },
};
