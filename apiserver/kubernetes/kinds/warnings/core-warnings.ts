import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { PersistentVolume, PersistentVolumeSpec, Service } from '../../../../shared/api/types/core-v1';
import { compareQuantity, parseQuantity } from '../../../../shared/meta/quantity';
import { ANNOTATION } from '../../../../shared/names';
import type { PemBlock } from '../certificates/pem-blocks';
import { pemBlocks } from '../certificates/pem-blocks';
import { cidrWarnings, ipWarnings } from './address-warnings';
import { nodeTermWarnings } from './node-labels';

/** Returns the warnings about a Service. Source: GetWarningsForService, v1.36. */
export function serviceWarnings(service: Service): readonly string[] {
  const { spec } = service;
  const { clusterIP = '', clusterIPs = [], externalIPs = [], loadBalancerIP = '' } = spec;
  const addresses = clusterIP === '' || clusterIP === 'None' ? [] : clusterIPs;
  return [
    ...FIELD_RULES.filter(([warns]) => warns(service)).map(([, text]) => text),
    ...addresses.flatMap((address, index) => ipWarnings(address, `spec.clusterIPs[${String(index)}]`)),
    ...externalIPs.flatMap((address, index) => ipWarnings(address, `spec.externalIPs[${String(index)}]`)),
    ...ipWarnings(loadBalancerIP, 'spec.loadBalancerIP'),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((range, index) =>
      cidrWarnings(range, `spec.loadBalancerSourceRanges[${String(index)}]`),
    ),
  ];
}

const isHeadless = ({ spec }: Service): boolean => spec.type === 'ClusterIP' && spec.clusterIP === 'None';
const isAlias = ({ spec }: Service): boolean => spec.type === 'ExternalName';
const hasExternalIps = ({ spec }: Service): boolean => (spec.externalIPs ?? []).length > 0;

const FIELD_RULES: readonly (readonly [warns: (service: Service) => boolean, text: string])[] = [
  [
    ({ metadata }) => metadata.annotations?.[ANNOTATION.topologyAwareHints] !== undefined,
    `annotation ${ANNOTATION.topologyAwareHints} is deprecated, please use ${ANNOTATION.topologyMode} instead`,
  ],
  [
    (service) => isHeadless(service) && (service.spec.loadBalancerIP ?? '') !== '',
    'spec.loadBalancerIP is ignored for headless services',
  ],
  [
    (service) => isHeadless(service) && hasExternalIps(service),
    'spec.externalIPs is ignored for headless services',
  ],
  [
    (service) => isHeadless(service) && service.spec.sessionAffinity !== 'None',
    'spec.SessionAffinity is ignored for headless services',
  ],
  [
    (service) => hasExternalIps(service) && !isHeadless(service) && !isAlias(service),
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  ],
  [
    (service) => hasExternalIps(service) && isAlias(service),
    'spec.externalIPs is ignored when spec.type is "ExternalName"',
  ],
  [
    (service) => !isAlias(service) && (service.spec.externalName ?? '') !== '',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ],
  [
    ({ spec }) => spec.trafficDistribution === 'PreferClose',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ],
];

const OLD_VOLUMES: readonly (readonly [keyof PersistentVolumeSpec, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Returns the warnings about a volume. Source: GetWarningsForPersistentVolume, v1.36. */
export function volumeWarnings({ metadata, spec }: PersistentVolume): readonly string[] {
  const { annotations = {} } = metadata;
  return [
    ...OLD_VOLUME_ANNOTATIONS.flatMap(([key, advice]) =>
      annotations[key] === undefined ? [] : [`metadata.annotations[${key}]: ${advice}`],
    ),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${String(index)}]`, {
        checksValues: false,
      }),
    ),
    ...OLD_VOLUMES.flatMap(([source, name, why]) =>
      spec[source] === undefined ? [] : [`spec.${name}: ${why}`],
    ),
  ];
}

const OLD_VOLUME_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [ANNOTATION.betaStorageClass, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [ANNOTATION.betaMountOptions, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const QUOTA_RESOURCES = ['cpu', 'memory', 'storage', 'ephemeral-storage'];

/** Returns the warnings about requests that are larger than limits. */
export function quotaWarnings(hard: Readonly<Record<string, string>>): readonly string[] {
  return QUOTA_RESOURCES.flatMap((name) => {
    const isBare = name === 'cpu' || name === 'memory';
    const requestName = hard[`requests.${name}`] === undefined && isBare ? name : `requests.${name}`;
    const limitName = `limits.${name}`;
    const { [requestName]: request, [limitName]: limit } = hard;
    const [asked, allowed] = [request, limit].map((each) => parseQuantity(each ?? ''));
    if (asked === undefined || allowed === undefined || compareQuantity(asked, allowed) <= 0) return [];
    return [
      `ResourceQuota ${requestName} (${String(request)}) should be less than ${limitName} (${String(limit)})`,
    ];
  });
}

/**
 * Returns what is wrong with a certificate and its key, both PEM in base64, in the words of Go's `tls.X509KeyPair`; undefined for a pair
 * that fits. Only the first certificate counts.
 */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const certificates = blocksOf(certificate);
  const leaf = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return missingCertificate(certificates.map(({ type }) => type));
  const keys = blocksOf(key);
  const ownKey = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (ownKey === undefined) return missingKey(keys.map(({ type }) => type));
  const parsed = parsedBy(() => new X509Certificate(pemOf(leaf)));
  if (parsed === undefined) return 'x509: malformed certificate';
  const parsedKey = parsedBy(() => createPrivateKey(pemOf(ownKey)));
  if (parsedKey === undefined) return 'tls: failed to parse private key';
  if (parsed.checkPrivateKey(parsedKey)) return undefined;
  return parsed.publicKey.asymmetricKeyType === parsedKey.asymmetricKeyType
    ? 'tls: private key does not match public key'
    : 'tls: private key type does not match public key type';
}

function parsedBy<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function blocksOf(base64: string): readonly PemBlock[] {
  // Only one block of them is parsed, so that the event loop needs no bounds.
  return pemBlocks(Buffer.from(base64, 'base64').toString('latin1'), undefined);
}

function pemOf({ type, body }: PemBlock): string {
  return `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;
}

function missingCertificate(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (types.length === 1 && (types[0] ?? '').endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

function missingKey(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in key input';
  if (types.length === 1 && types[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}
