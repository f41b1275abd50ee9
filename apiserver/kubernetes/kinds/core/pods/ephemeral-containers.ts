import type { EphemeralContainers, Pod } from '../../../../../shared/api/types/core-v1';
import { GROUP } from '../../../../../shared/names';
import { apiVersionOf } from '../../../../../shared/object/object';
import type { ObjectView } from '../../../../engine/registry/object-view';
import { metadataWithDemands, shownMetadata } from '../../../../engine/registry/shown-metadata';

const KIND = { group: GROUP.core, version: 'v1', kind: 'EphemeralContainers' } as const;

/** `pods/ephemeralcontainers`: the list alone, in a kind of its own, through which containers are added to a running pod. */
export const ephemeralContainersView: ObjectView = {
  hasStrategy: true,
  show: (pod: Pod) => ({
    kind: KIND.kind,
    apiVersion: apiVersionOf(KIND),
    metadata: shownMetadata(pod),
    ephemeralContainers: pod.spec.ephemeralContainers ?? [],
  }),
  merge: (shown: EphemeralContainers, pod: Pod) => ({
    ...pod,
    metadata: metadataWithDemands(pod, shown),
    spec: { ...pod.spec, ephemeralContainers: shown.ephemeralContainers ?? [] },
  }),
};
