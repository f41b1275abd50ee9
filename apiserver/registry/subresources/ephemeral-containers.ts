import { apiVersionOf } from '../../../shared/meta/object';
import { GROUP } from '../../../shared/names';
import { record, records } from '../validation/accessors';
import type { ObjectView } from './object-view';

const KIND = { group: GROUP.core, version: 'v1', kind: 'EphemeralContainers' } as const;

/** `pods/ephemeralcontainers`: the list alone, in a kind of its own, through which containers are added to a running pod. */
export const ephemeralContainersView: ObjectView = {
  hasStrategy: true,
  show: (pod) => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = pod.metadata;
    return {
      kind: KIND.kind,
      apiVersion: apiVersionOf(KIND),
      metadata: {
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      },
      ephemeralContainers: records(record(pod['spec'])['ephemeralContainers']),
    };
  },
  merge: (shown, pod) => {
    const { uid, resourceVersion = '' } = shown.metadata;
    const metadata = { ...pod.metadata, ...(uid === undefined ? {} : { uid }), resourceVersion };
    const spec = { ...record(pod['spec']), ephemeralContainers: records(shown['ephemeralContainers']) };
    return { ...pod, metadata, spec };
  },
};
