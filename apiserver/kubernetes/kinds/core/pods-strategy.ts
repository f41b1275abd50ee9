import type { Pod } from '../../../../shared/api/types/core-v1';
import type { Strategy, SubresourceStrategy } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { privilegeRule } from '../pod-template/privileged-containers';
import { podRules, validateEphemeralContainersUpdate, validatePodStatusUpdate } from './pods-rules';
import { qosClassOf } from './pod-qos';
import { withSeccompTwins } from './pod-seccomp';
import { keptPodSpec, withoutEphemeral } from '../pod-template/pod-spec-fields';

const DEFAULT_GRACE_SECONDS = 30;

/** The node agent writes the status; the owners of a pod and its deletion are not its business. */
const status: SubresourceStrategy<Pod> = {
  prepareForUpdate(next, previous) {
    const updated = statusSubresource.prepareForUpdate(next, previous);
    const { ownerReferences: _claimed, deletionTimestamp: _marked, ...metadata } = updated.metadata;
    const { ownerReferences, deletionTimestamp } = previous.metadata;
    return {
      ...updated,
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
const ephemeralContainers: SubresourceStrategy<Pod> = {
  prepareForUpdate(next, previous, { settings }) {
    const { ephemeralContainers: wanted } = next.spec;
    const spec =
      wanted === undefined
        ? withoutEphemeral(previous.spec)
        : { ...previous.spec, ephemeralContainers: wanted };
    return { ...previous, metadata: next.metadata, spec: keptPodSpec(spec, settings, previous.spec) };
  },
  validateUpdate: (next, previous, { settings }) => [
    ...validateEphemeralContainersUpdate(next, previous),
    ...privilegeRule(next.spec, { path: 'spec', settings, lists: ['ephemeralContainers'] }),
  ],
};

/** A pod that no node runs goes at once; one that was bound gets its grace period, at the end of which its node agent removes it. */
export const pods: Strategy<Pod> = {
  ...podRules,
  returnsDeletedObject: true,
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
  },
  indexedFields: ['spec.nodeName'],
  prepareForCreate(pod, { settings }) {
    const allowed = settings.ephemeralContainers ? pod.spec : withoutEphemeral(pod.spec);
    const kept = withSeccompTwins({ ...pod, spec: keptPodSpec(allowed, settings) });
    return withStatus(kept, { phase: 'Pending', qosClass: qosClassOf(kept.spec) });
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
    return requested ?? (typeof own === 'number' ? own : DEFAULT_GRACE_SECONDS);
  },
  subresources: { status, ephemeralcontainers: ephemeralContainers },
};
