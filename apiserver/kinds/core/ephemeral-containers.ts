import { apiVersionOf } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import { record, records } from '../../../shared/object/accessors';
import type { ObjectView } from '../../registry/object-view';
import { metadataWithDemands, shownMetadata } from '../../registry/shown-metadata';

const KIND = { group: GROUP.core, version: 'v1', kind: 'EphemeralContainers' } as const;

/** `pods/ephemeralcontainers`: the list alone, in a kind of its own, through which containers are added to a running pod. */
export const ephemeralContainersView: ObjectView = {
  hasStrategy: true,
  show: (pod) => ({
    kind: KIND.kind,
    apiVersion: apiVersionOf(KIND),
    metadata: shownMetadata(pod),
    ephemeralContainers: records(record(pod['spec'])['ephemeralContainers']),
  }),
  merge: (shown, pod) => ({
    ...pod,
    metadata: metadataWithDemands(pod, shown),
    spec: { ...record(pod['spec']), ephemeralContainers: records(shown['ephemeralContainers']) },
  }),
};
