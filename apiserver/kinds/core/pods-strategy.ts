import type { ApiObject } from '../../../shared/object/object';
import type { Strategy, SubresourceStrategy } from '../../registry/strategy';
import { statusSubresource, withStatus } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { record, records, text } from '../../../shared/object/accessors';
import { privilegeRule } from '../pod-template/privileged-containers';
import {
  validateEphemeralContainersUpdate,
  validatePod,
  validatePodCreate,
  validatePodStatusUpdate,
  validatePodUpdate,
} from './pods-rules';
import { qosClassOf } from './pod-qos';
import { withSeccompTwins } from './pod-seccomp';
import { keptPodSpec } from '../pod-template/pod-spec-fields';

const DEFAULT_GRACE_SECONDS = 30;

/** The node agent writes the status; the owners of a pod are not its business. */
const status: SubresourceStrategy = {
  prepareForUpdate(next, previous) {
    const updated = statusSubresource.prepareForUpdate(next, previous);
    const { ownerReferences: _claimed, ...metadata } = updated.metadata;
    const { ownerReferences } = previous.metadata;
    return {
      ...updated,
      metadata: { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
      status: withPodIps(record(updated['status'])),
    };
  },
  validateUpdate: validatePodStatusUpdate,
};

/** Only the list changes, and only by growing. */
const ephemeralContainers: SubresourceStrategy = {
  prepareForUpdate(next, previous) {
    const { ephemeralContainers: wanted } = record(next['spec']);
    const spec = keptPodSpec({ ...record(previous['spec']), ephemeralContainers: wanted });
    return { ...previous, metadata: next.metadata, spec };
  },
  validateUpdate: (next, previous, { settings }) => [
    ...validateEphemeralContainersUpdate(next, previous),
    ...privilegeRule(record(next['spec']), { path: 'spec', settings, lists: ['ephemeralContainers'] }),
  ],
};

/** `podIP` is the first of `podIPs`; old node agents write the one alone, which then counts. */
function withPodIps(given: Json): Json {
  const ip = text(given['podIP']);
  const ips = records(given['podIPs']);
  const first = text(ips[0]?.['ip']);
  if (ip === first) return given;
  return ip === '' ? { ...given, podIP: first } : { ...given, podIPs: [{ ip }] };
}

/** A pod that no node runs goes at once; one that was bound gets its grace period, at the end of which its node agent removes it. */
export const pods: Strategy = {
  returnsDeletedObject: true,
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
    const spec = record(pod['spec']);
    const allowed = settings.ephemeralContainers ? spec : withoutEphemeralContainers(spec);
    const kept = withSeccompTwins({ ...pod, spec: keptPodSpec(allowed) });
    return withStatus(kept, { phase: 'Pending', qosClass: qosClassOf(record(kept['spec'])) });
  },
  /** What a pod got while its feature was on it keeps. */
  prepareForUpdate(next, previous, { settings }): ApiObject {
    const spec = record(next['spec']);
    const hasThem = records(record(previous['spec'])['ephemeralContainers']).length > 0;
    const isKept = settings.ephemeralContainers || hasThem;
    return { ...next, spec: keptPodSpec(isKept ? spec : withoutEphemeralContainers(spec)) };
  },
  validate: (pod, { settings }) => [
    ...validatePod(pod),
    ...privilegeRule(record(pod['spec']), { path: 'spec', settings }),
  ],
  validateNew: validatePodCreate,
  validateUpdate: validatePodUpdate,
  graceSeconds(object, requested) {
    const spec = record(object['spec']);
    const phase = record(object['status'])['phase'];
    if (text(spec['nodeName']) === '') return 0;
    if (phase === 'Failed' || phase === 'Succeeded') return 0;
    const own = spec['terminationGracePeriodSeconds'];
    return requested ?? (typeof own === 'number' ? own : DEFAULT_GRACE_SECONDS);
  },
  subresources: { status, ephemeralcontainers: ephemeralContainers },
};

function withoutEphemeralContainers(spec: Json): Json {
  const { ephemeralContainers: _dropped, ...kept } = spec;
  return kept;
}
