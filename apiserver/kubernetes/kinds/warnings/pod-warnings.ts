import type {
  AppArmorProfile,
  Container,
  PodAffinityTerm,
  PodSpec,
  Volume,
} from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import { DEPRECATED_POD_ANNOTATIONS } from '../../../../shared/deprecated-names';
import { goQuote } from '../../../../shared/errors/go-quote';
import { ANNOTATION } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { KindSettings } from '../../../engine/registry/strategy';
import { appArmorProfileOf } from '../core/pods/pod-seccomp';
import { isOn } from '../field-gates';
import { ipWarnings } from './address-warnings';
import {
  BYTE_RESOURCES,
  containerWarnings,
  eachContainer,
  portWarnings,
  wholeBytes,
} from './container-warnings';
import { nodeLabelAdvice, nodeTermWarnings } from './node-labels';
import { sharedPathWarnings } from './shared-paths';

/** What a pod is made of: a pod itself, or its template. */
export interface PodParts {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

type OldVolumes = readonly (readonly [keyof Volume, string])[];

/** Sources of volumes without effect. */
const OLD_VOLUMES: OldVolumes = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const GIT_REPO: OldVolumes = [['gitRepo', 'deprecated in v1.11']];
const GIT_REPO_OFF: OldVolumes = [['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+']];

function oldVolumes(settings: KindSettings): OldVolumes {
  const isOff = isInForce('gitRepoVolumesOff') && !isOn(settings, 'GitRepoVolumeDriver');
  return [...OLD_VOLUMES, ...(isOff ? GIT_REPO_OFF : GIT_REPO)];
}

/**
 * Returns the warnings about a pod or its template at `path`, which is empty for a pod. Source: GetWarningsForPod and
 * GetWarningsForPodTemplate, v1.36.
 */
export function podWarnings(
  { metadata = {}, spec }: PodParts,
  path: string,
  settings: KindSettings,
): readonly string[] {
  const before = path === '' ? '' : `${path}.`;
  const at = `${before}spec`;
  return [
    ...placementWarnings(spec, at),
    ...annotationWarnings(metadata.annotations ?? {}, spec, before),
    ...volumeWarnings(spec.volumes ?? [], `${at}.volumes`, oldVolumes(settings)),
    ...nameWarnings(spec, at),
    ...BYTE_RESOURCES.flatMap((name) => wholeBytes(spec.overhead?.[name], `${at}.overhead[${name}]`)),
    ...eachContainer(spec, at, containerWarnings),
    ...portWarnings(spec, at),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((server, index) =>
      ipWarnings(server, `${at}.dnsConfig.nameservers[${String(index)}]`),
    ),
  ];
}

function placementWarnings(
  { nodeSelector = {}, affinity, topologySpreadConstraints: spreads = [] }: PodSpec,
  at: string,
): readonly string[] {
  const { nodeAffinity: ofNodes, podAffinity, podAntiAffinity } = affinity ?? {};
  const path = `${at}.affinity.nodeAffinity`;
  return [
    ...Object.keys(nodeSelector).flatMap((label) => {
      const advice = nodeLabelAdvice(label);
      return advice === undefined ? [] : [`${at}.nodeSelector[${label}]: ${advice}`];
    }),
    ...(ofNodes?.[REQUIRED]?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, `${path}.${REQUIRED}.nodeSelectorTerms[${String(index)}]`, {
        checksValues: false,
      }),
    ),
    ...(ofNodes?.[PREFERRED] ?? []).flatMap(({ preference }, index) =>
      nodeTermWarnings(preference, `${path}.${PREFERRED}[${String(index)}].preference`, {
        checksValues: true,
      }),
    ),
    ...spreads.flatMap(({ topologyKey, labelSelector }, index) => {
      const place = `${at}.topologySpreadConstraints[${String(index)}]`;
      const advice = nodeLabelAdvice(topologyKey);
      return [
        ...(advice === undefined ? [] : [`${place}.topologyKey: ${topologyKey} is ${advice}`]),
        ...(labelSelector === undefined ? [matchesNothing(`${place}.labelSelector`)] : []),
      ];
    }),
    ...[{ podAffinity }, { podAntiAffinity }].flatMap((each) =>
      Object.entries(each).flatMap(([name, terms]) => [
        ...termWarnings(terms?.[REQUIRED] ?? [], (index) => `${at}.affinity.${name}.${REQUIRED}[${index}]`),
        ...termWarnings(
          (terms?.[PREFERRED] ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
          (index) => `${at}.affinity.${name}.${PREFERRED}[${index}].podAffinityTerm`,
        ),
      ]),
    ),
  ];
}

function termWarnings(
  terms: readonly PodAffinityTerm[],
  placeOf: (index: string) => string,
): readonly string[] {
  return terms.flatMap(({ labelSelector }, index) =>
    labelSelector === undefined ? [matchesNothing(`${placeOf(String(index))}.labelSelector`)] : [],
  );
}

function matchesNothing(path: string): string {
  return `${path}: a null labelSelector results in matching no pod`;
}

function annotationWarnings(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  before: string,
): readonly string[] {
  if (Object.keys(annotations).length === 0) return [];
  const { securityContext: context } = spec;
  const warn = (key: string, advice: string): readonly string[] =>
    annotations[key] === undefined ? [] : [`${before}metadata.annotations[${key}]: ${advice}`];
  return [
    ...[...DEPRECATED_POD_ANNOTATIONS].flatMap(([key, advice]) => warn(key, advice)),
    ...(context?.seccompProfile === undefined ? warn(ANNOTATION.seccompPod, SECCOMP) : []),
    ...eachContainer(spec, '', ({ name, securityContext }) => [
      ...(securityContext?.seccompProfile === undefined
        ? warn(`${ANNOTATION.seccompContainerPrefix}${name}`, SECCOMP)
        : []),
      // Pods get the fields from the annotations, and warn of what they got.
      ...(before === '' ||
      !ignoresAppArmor(annotations, name, {
        ofContainer: securityContext?.appArmorProfile,
        ofPod: context?.appArmorProfile,
      })
        ? []
        : warn(`${ANNOTATION.appArmorContainerPrefix}${name}`, APP_ARMOR)),
    ]),
  ];
}

const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const APP_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/** Whether the annotation says something else than the fields do. */
function ignoresAppArmor(
  annotations: Readonly<Record<string, string>>,
  container: string,
  { ofContainer, ofPod }: Readonly<Record<'ofContainer' | 'ofPod', AppArmorProfile | undefined>>,
): boolean {
  const annotation = annotations[`${ANNOTATION.appArmorContainerPrefix}${container}`];
  if (annotation === undefined || ofContainer !== undefined) return false;
  return ofPod === undefined || !deepEqual(ofPod, appArmorProfileOf(annotation));
}

/** Returns the warnings about AppArmor annotations of a new pod as the client sent it. Source: applyAppArmorVersionSkew, v1.36. */
export function appArmorWarnings({ metadata = {}, spec }: PodParts): readonly string[] {
  const { annotations = {} } = metadata;
  if (spec.os?.name === 'windows') return [];
  return eachContainer(spec, '', ({ name, securityContext }: Container) =>
    ignoresAppArmor(annotations, name, {
      ofContainer: securityContext?.appArmorProfile,
      ofPod: spec.securityContext?.appArmorProfile,
    })
      ? [`metadata.annotations[${ANNOTATION.appArmorContainerPrefix}${name}]: ${APP_ARMOR}`]
      : [],
  );
}

function volumeWarnings(volumes: readonly Volume[], path: string, old: OldVolumes): readonly string[] {
  return [
    ...volumes.flatMap((volume, index) => {
      const at = `${path}[${String(index)}]`;
      const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
      return [
        ...old.flatMap(([source, why]) =>
          volume[source] === undefined
            ? []
            : [`${at}.${source === 'storageos' ? 'storageOS' : source}: ${why}`],
        ),
        ...(claim === undefined ? [] : claimWarnings(claim, `${at}.ephemeral.volumeClaimTemplate.spec`)),
      ];
    }),
    ...sharedPathWarnings(volumes),
  ];
}

/** Returns the warnings about the spec of a claim. Source: GetWarningsForPersistentVolumeClaimSpec, v1.36. */
export function claimWarnings(
  {
    resources,
  }: {
    readonly resources?: {
      readonly requests?: Readonly<Record<string, string>>;
      readonly limits?: Readonly<Record<string, string>>;
    };
  },
  path: string,
): readonly string[] {
  return (['requests', 'limits'] as const).flatMap((name) =>
    wholeBytes(resources?.[name]?.[STORAGE], `${path}.resources.${name}[${STORAGE}]`),
  );
}

const STORAGE = 'storage';

/** Entries of lists that repeat, or have no name. */
function nameWarnings({ hostAliases = [], imagePullSecrets = [] }: PodSpec, at: string): readonly string[] {
  const ips = new Set<string>();
  const names = new Set<string>();
  return [
    ...hostAliases.flatMap(({ ip = '' }, index) => {
      const place = `${at}.hostAliases[${String(index)}].ip`;
      const again = ips.has(ip) ? [`${place}: duplicate ip ${goQuote(ip)}`] : [];
      ips.add(ip);
      return [...again, ...ipWarnings(ip, place)];
    }),
    ...imagePullSecrets.flatMap(({ name = '' }, index) => {
      const place = `${at}.imagePullSecrets[${String(index)}].name`;
      const again = names.has(name) ? [`${place}: duplicate name ${goQuote(name)}`] : [];
      names.add(name);
      return [...again, ...(name === '' ? [`${place}: invalid empty name ""`] : [])];
    }),
  ];
}
