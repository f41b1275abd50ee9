import type { Node, PersistentVolume, Pod, PodSpec, Volume } from '../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../shared/names';
import type { NodeFeatures } from './node-features';

/** The kinds of objects that pods refer to. */
export type ReferenceKind = 'secret' | 'configmap' | 'claim' | 'account';

/** The key of an object: `<kind>:<namespace>/<name>`. */
export type Reference = `${ReferenceKind}:${string}/${string}`;

export function referenceTo(kind: ReferenceKind, namespace: string, name: string): Reference {
  return `${kind}:${namespace}/${name}`;
}

/** Returns the distinct objects that the pod refers to. Mirror pods grant nothing, because the node itself creates them. */
export function referencesOfPod(
  { metadata, spec }: Pod,
  { ephemeralVolumes }: Pick<NodeFeatures, 'ephemeralVolumes'>,
): readonly Reference[] {
  if (spec === undefined || metadata.annotations?.[ANNOTATION.mirrorPod] !== undefined) return [];
  const { namespace = '', name: pod = '' } = metadata;
  const { serviceAccountName, imagePullSecrets = [], volumes = [] } = spec;
  const named: readonly Named[] = [
    ['account', serviceAccountName],
    ...imagePullSecrets.map(({ name }): Named => ['secret', name]),
    ...containersOf(spec).flatMap(namedByContainer),
    ...volumes.flatMap((volume) => namedByVolume(volume)),
    ...(ephemeralVolumes ? volumes.map((volume) => claimMadeFor(pod, volume)) : []),
  ];
  const found = named.flatMap(([kind, name = '']) =>
    name === '' ? [] : [referenceTo(kind, namespace, name)],
  );
  return [...new Set(found)];
}

type Named = readonly [kind: ReferenceKind, name: string | undefined];

function namedByContainer({ env = [], envFrom = [] }: AnyContainer): readonly Named[] {
  return [
    ...envFrom.flatMap(({ secretRef, configMapRef }): Named[] => [
      ['secret', secretRef?.name],
      ['configmap', configMapRef?.name],
    ]),
    ...env.flatMap(({ valueFrom }): Named[] => [
      ['secret', valueFrom?.secretKeyRef?.name],
      ['configmap', valueFrom?.configMapKeyRef?.name],
    ]),
  ];
}

/** The claim of a generic ephemeral volume is named after pod and volume. */
function claimMadeFor(pod: string, { ephemeral, name }: Volume): Named {
  return ['claim', ephemeral === undefined ? undefined : `${pod}-${name}`];
}

function namedByVolume(volume: Volume): readonly Named[] {
  const { configMap, projected, persistentVolumeClaim } = volume;
  return [
    ...secretsOfVolume(volume).map((secret): Named => ['secret', secret]),
    ['configmap', configMap?.name],
    ...(projected?.sources ?? []).map((source): Named => ['configmap', source.configMap?.name]),
    ['claim', persistentVolumeClaim?.claimName],
  ];
}

/** Returns the ConfigMap that configures the kubelet. */
export function referencesOfNode({ spec }: Node): readonly Reference[] {
  const { namespace = '', name = '' } = spec.configSource?.configMap ?? {};
  return name === '' ? [] : [referenceTo('configmap', namespace, name)];
}

export interface VolumeReferences {
  /** The claim that the volume is bound to. */
  readonly claim: Reference;
  /** The secrets that a node needs to mount it. */
  readonly secrets: readonly Reference[];
}

/** Returns the objects that a volume refers to; undefined if it is not bound. */
export function referencesOfVolume({ spec }: PersistentVolume): VolumeReferences | undefined {
  const { namespace: ofClaim = '', name: claim = '' } = spec.claimRef ?? {};
  if (claim === '') return undefined;
  const refs = [
    ...PERSISTENT_WITH_REF.map((kind) => spec[kind]?.secretRef),
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
    spec.azureFile === undefined
      ? undefined
      : { name: spec.azureFile.secretName ?? '', namespace: spec.azureFile.secretNamespace ?? '' },
  ];
  const secrets = refs.flatMap((ref) => {
    const { name = '', namespace = '' } = ref ?? {};
    return name === '' ? [] : [referenceTo('secret', namespace === '' ? ofClaim : namespace, name)];
  });
  return { claim: referenceTo('claim', ofClaim, claim), secrets: [...new Set(secrets)] };
}

const PERSISTENT_WITH_REF = [
  'cephfs',
  'cinder',
  'flexVolume',
  'rbd',
  'scaleIO',
  'iscsi',
  'storageos',
] as const;

const WITH_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function secretsOfVolume(volume: Volume): readonly (string | undefined)[] {
  return [
    volume.secret?.secretName,
    volume.azureFile?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    ...WITH_REF.map((kind) => volume[kind]?.secretRef?.name),
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  ];
}

type AnyContainer = NonNullable<PodSpec['ephemeralContainers' | 'containers']>[number];

function containersOf({
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: PodSpec): readonly AnyContainer[] {
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}
