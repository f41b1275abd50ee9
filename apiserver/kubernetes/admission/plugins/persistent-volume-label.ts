import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSpec,
} from '../../../../shared/api/types/core-v1';
import { ANNOTATION, VOLUME_TOPOLOGY_LABELS } from '../../../../shared/names';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { VOLUMES } from '../../cluster/resources';
import { withSpec } from './with-spec';

/**
 * Binds a new cloud volume to the zone and region of its labels if a provisioner set them. Otherwise a cloud provider would be needed,
 * and there is none: the volume is refused, as v1.21 does without that provider.
 */
export const persistentVolumeLabel = pluginOf(writesOf(VOLUMES, ['CREATE']), {
  mutate(attributes) {
    const { object: volume } = attributes;
    if (volume === undefined) return volume;
    const labels = provisionedLabels(volume);
    if (labels !== undefined) {
      const requirements = labels.map(({ key, value, isZone }) => {
        const values = isZone ? zonesIn(value) : [value];
        if (values.includes('')) {
          throw refusal(attributes, `failed to convert label string for Zone: ${value} to a Set`);
        }
        return { key, operator: 'In', values };
      });
      return withAffinity(volume, requirements);
    }
    const cloud = CLOUDS.find(({ source }) => volume.spec[source] !== undefined);
    if (cloud === undefined) return volume;
    const id = cloud.idOf(volume.spec);
    if (id === TO_BE_PROVISIONED && cloud.source !== 'vsphereVolume') return volume;
    const { what, provider } = cloud;
    throw refusal(attributes, `error querying ${what} ${id}: unable to build ${provider}`);
  },
});

/** The id of a volume that is still to be provisioned. */
const TO_BE_PROVISIONED = 'placeholder-for-provisioning';

interface Cloud {
  readonly source: keyof PersistentVolumeSpec;
  readonly what: string;
  readonly provider: string;
  readonly idOf: (spec: PersistentVolumeSpec) => string;
}

const CLOUDS: readonly Cloud[] = [
  {
    source: 'awsElasticBlockStore',
    what: 'AWS EBS volume',
    provider: 'AWS cloud provider for EBS',
    idOf: ({ awsElasticBlockStore: source }) => source?.volumeID ?? '',
  },
  {
    source: 'gcePersistentDisk',
    what: 'GCE PD volume',
    provider: 'GCE cloud provider for PD',
    idOf: ({ gcePersistentDisk: source }) => source?.pdName ?? '',
  },
  {
    source: 'azureDisk',
    what: 'AzureDisk volume',
    provider: 'Azure cloud provider for AzureDisk',
    idOf: ({ azureDisk: source }) => source?.diskName ?? '',
  },
  {
    source: 'cinder',
    what: 'Cinder volume',
    provider: 'OpenStack cloud provider for Cinder disk',
    idOf: ({ cinder: source }) => source?.volumeID ?? '',
  },
  {
    source: 'vsphereVolume',
    what: 'vSphere Volume',
    provider: 'vSphere cloud provider',
    idOf: ({ vsphereVolume: source }) => source?.volumePath ?? '',
  },
];

interface TopologyLabel {
  readonly key: string;
  readonly value: string;
  readonly isZone: boolean;
}

/** Returns the provisioner's zone and region labels, by current or deprecated names. */
function provisionedLabels({ metadata }: PersistentVolume): readonly TopologyLabel[] | undefined {
  const { labels = {}, annotations = {} } = metadata;
  if (!Object.hasOwn(annotations, ANNOTATION.provisionedBy)) return undefined;
  const named = VOLUME_TOPOLOGY_LABELS.find(
    ({ zone, region }) => Object.hasOwn(labels, zone) && Object.hasOwn(labels, region),
  );
  if (named === undefined) return undefined;
  return [
    { key: named.zone, value: labels[named.zone] ?? '', isZone: true },
    { key: named.region, value: labels[named.region] ?? '', isZone: false },
  ];
}

/** A label may name several zones: `a__b`. */
function zonesIn(label: string): readonly string[] {
  return [...new Set(label.split('__').map((zone) => zone.trim()))].sort();
}

function withAffinity(
  volume: PersistentVolume,
  requirements: readonly NodeSelectorRequirement[],
): PersistentVolume {
  const { nodeAffinity } = volume.spec;
  const terms = nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const keys = new Set(requirements.map(({ key }) => key));
  // Existing zone terms of the volume are left alone.
  const speaksOfThem = terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key }) => keys.has(key)),
  );
  if (speaksOfThem) return volume;
  const bound = (terms.length === 0 ? [NO_TERM] : terms).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...requirements],
  }));
  return withSpec(volume, {
    nodeAffinity: { ...nodeAffinity, required: { ...nodeAffinity?.required, nodeSelectorTerms: bound } },
  });
}

const NO_TERM: NodeSelectorTerm = {};
