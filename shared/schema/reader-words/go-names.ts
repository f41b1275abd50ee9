import { ownKeyMap } from '../../own-key-map';
import type { FieldType, MessageType } from '../types';

/** How Go calls the type of a message: `v1.ObjectMeta`. */
export function goTypeName({ name }: MessageType): string {
  return name.slice(name.indexOf('/') + 1);
}

/** How Go calls a field: that of `apiGroup` is `APIGroup`. */
export function goFieldName(type: MessageType, field: string): string {
  if (field === 'metadata') return type.name.endsWith('List') ? 'ListMeta' : 'ObjectMeta';
  const special = OF_MESSAGE.get(`${messageOf(type)}.${field}`) ?? OF_FIELD.get(field);
  return special ?? field.slice(0, 1).toUpperCase() + field.slice(1);
}

/** How Go calls the type of one item of a list whose items are no messages. */
export function goItemTypeName(type: MessageType, { name, kind }: FieldType): string {
  if (kind !== 'string') return ITEM_OF_KIND.get(kind) ?? kind;
  const own = `${messageOf(type)}.${name}`;
  const special = NAMED_ITEM.get(own) ?? NAMED_ITEM.get(name);
  if (special === undefined) return 'string';
  return special.includes('.') ? special : `${goTypeName(type).split('.')[0] ?? ''}.${special}`;
}

function messageOf({ name }: MessageType): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Where a name in JSON is another one in Go than with a capital. */
const OF_FIELD = ownKeyMap<string>({
  $ref: 'Ref',
  $schema: 'Schema',
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  apiServerID: 'APIServerID',
  apiVersion: 'APIVersion',
  apiVersions: 'APIVersions',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  caBundle: 'CABundle',
  cephfs: 'CephFS',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  cidr: 'CIDR',
  csi: 'CSI',
  diskURI: 'DataDiskURI',
  dnsConfig: 'DNSConfig',
  dnsPolicy: 'DNSPolicy',
  externalID: 'DoNotUseExternalID',
  fc: 'FC',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsGroupPolicy: 'FSGroupPolicy',
  fsType: 'FSType',
  gcePersistentDisk: 'GCEPersistentDisk',
  gmsaCredentialSpec: 'GMSACredentialSpec',
  gmsaCredentialSpecName: 'GMSACredentialSpecName',
  http: 'HTTP',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  id: 'ID',
  ip: 'IP',
  ipBlock: 'IPBlock',
  ipFamilies: 'IPFamilies',
  ipFamilyPolicy: 'IPFamilyPolicy',
  iqn: 'IQN',
  iscsi: 'ISCSI',
  iscsiInterface: 'ISCSIInterface',
  jsonPath: 'JSONPath',
  lastState: 'LastTerminationState',
  nfs: 'NFS',
  osImage: 'OSImage',
  pdName: 'PDName',
  pool: 'RBDPool',
  qosClass: 'QOSClass',
  rbd: 'RBD',
  reportingComponent: 'ReportingController',
  seLinux: 'SELinux',
  seLinuxOptions: 'SELinuxOptions',
  sslEnabled: 'SSLEnabled',
  storageos: 'StorageOS',
  tcpSocket: 'TCPSocket',
  tls: 'TLS',
  ttlSecondsAfterFinished: 'TTLSecondsAfterFinished',
  tty: 'TTY',
  uid: 'UID',
  url: 'URL',
  wwids: 'WWIDs',
  'x-kubernetes-embedded-resource': 'XEmbeddedResource',
  'x-kubernetes-int-or-string': 'XIntOrString',
  'x-kubernetes-list-map-keys': 'XListMapKeys',
  'x-kubernetes-list-type': 'XListType',
  'x-kubernetes-map-type': 'XMapType',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
});

/** Where it is so in some messages alone. */
const OF_MESSAGE = ownKeyMap<string>({
  'GlusterfsPersistentVolumeSource.endpoints': 'EndpointsName',
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'PodSpec.serviceAccount': 'DeprecatedServiceAccount',
  'RBDPersistentVolumeSource.image': 'RBDImage',
  'RBDPersistentVolumeSource.monitors': 'CephMonitors',
  'RBDPersistentVolumeSource.user': 'RadosUser',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.user': 'RadosUser',
  'StatusCause.reason': 'Type',
  'SubjectAccessReviewSpec.group': 'Groups',
});

/** Types of texts that have a name of their own, of the message's package where none is named. */
const NAMED_ITEM = ownKeyMap<string>({
  'Capabilities.add': 'Capability',
  'Capabilities.drop': 'Capability',
  'NamespaceSpec.finalizers': 'FinalizerName',
  'PodSecurityPolicySpec.volumes': 'FSType',
  'ResourceQuotaSpec.scopes': 'ResourceQuotaScope',
  accessModes: 'PersistentVolumeAccessMode',
  allowedCapabilities: 'v1.Capability',
  allowedProcMountTypes: 'v1.ProcMountType',
  defaultAddCapabilities: 'v1.Capability',
  ipFamilies: 'IPFamily',
  operations: 'OperationType',
  policyTypes: 'PolicyType',
  requiredDropCapabilities: 'v1.Capability',
  usages: 'KeyUsage',
  volumeLifecycleModes: 'VolumeLifecycleMode',
  volumesInUse: 'UniqueVolumeName',
});

const ITEM_OF_KIND = ownKeyMap<string>({
  int32: 'int32',
  int64: 'int64',
  json: 'v1.JSON',
  rawExtension: 'runtime.RawExtension',
});
