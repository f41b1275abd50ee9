import type { ForeignFlag } from '../../../shared/flags/foreign-flag';
import { FOREIGN_LOG_FLAGS } from '../../../shared/flags/foreign-log-flags';

const CLOUD = 'no cloud provider is built in; run that of the provider as a program of its own';
const REMOVED = 'it was removed from Kubernetes before v1.21';
const CACHE =
  'the watch cache is limited in bytes, by the --watch-cache-*-budget flags, and serves every resource';
const ENDPOINTS = 'the addresses of the replicas are kept by leases';

/** Flags of kube-apiserver v1.21 that are accepted without effect. The supported flags are in `flag-rows.ts`. */
export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
  { name: 'address', taken: ['127.0.0.1'], reason: 'there is no insecure port' },
  { name: 'insecure-bind-address', reason: 'there is no insecure port' },
  { name: 'insecure-port', taken: ['0'], reason: 'there is no insecure port' },
  { name: 'port', taken: ['0'], reason: 'there is no insecure port' },
  { name: 'permit-address-sharing', isSwitch: true, reason: 'the address is not shared' },
  { name: 'permit-port-sharing', isSwitch: true, reason: 'the port is not shared' },
  { name: 'max-connection-bytes-per-sec', reason: 'no connection is slowed down' },

  { name: 'apiserver-count', reason: ENDPOINTS },
  { name: 'master-count', reason: ENDPOINTS },
  { name: 'endpoint-reconciler-type', taken: ['lease'], reason: ENDPOINTS },
  { name: 'master-service-namespace', reason: 'it was deprecated, the namespace is fixed' },
  { name: 'kubernetes-service-node-port', taken: ['0'], reason: 'the Service of the API has no node port' },

  { name: 'watch-cache', isSwitch: true, taken: ['true'], reason: CACHE },
  { name: 'default-watch-cache-size', reason: CACHE },
  { name: 'watch-cache-sizes', reason: CACHE },
  { name: 'target-ram-mb', reason: CACHE },
  { name: 'delete-collection-workers', reason: 'the size of the machine decides' },
  {
    name: 'enable-garbage-collector',
    isSwitch: true,
    taken: ['true'],
    reason: 'finalizers of deletions are always set; the controller-manager has the switch for the collector',
  },
  { name: 'etcd-count-metric-poll-period', reason: 'objects are counted without asking etcd' },
  {
    name: 'etcd-healthcheck-timeout',
    reason: 'a health check of the store takes as long as the prober waits',
  },
  {
    name: 'etcd-servers-overrides',
    taken: [''],
    reason: 'all resources are in one etcd, whose revisions order them',
  },
  { name: 'lease-reuse-duration-seconds', reason: 'leases are shared by the time at which they end' },
  { name: 'storage-media-type', reason: 'objects are stored as JSON' },

  { name: 'cloud-config', taken: [''], reason: CLOUD },
  { name: 'cloud-provider', taken: ['', 'external'], reason: CLOUD },
  { name: 'cloud-provider-gce-l7lb-src-cidrs', reason: CLOUD },
  { name: 'cloud-provider-gce-lb-src-cidrs', reason: CLOUD },
  { name: 'azure-container-registry-config', taken: [''], reason: CLOUD },
  { name: 'egress-selector-config-file', taken: [''], reason: 'all connections are made directly' },
  { name: 'ssh-keyfile', taken: [''], reason: REMOVED },
  { name: 'ssh-user', taken: [''], reason: REMOVED },

  {
    name: 'basic-auth-file',
    taken: [''],
    reason: `${REMOVED}; use client certificates, tokens or OpenID Connect`,
  },
  { name: 'admission-control', taken: [''], reason: `${REMOVED}; use --enable-admission-plugins` },
  { name: 'audit-dynamic-configuration', isSwitch: true, taken: ['false'], reason: REMOVED },
  { name: 'enable-swagger-ui', isSwitch: true, reason: REMOVED },
  { name: 'deserialization-cache-size', reason: REMOVED },
  { name: 'repair-malformed-updates', isSwitch: true, taken: ['false'], reason: REMOVED },

  { name: 'contention-profiling', isSwitch: true, reason: 'one thread serves all requests, without locks' },
  { name: 'enable-logs-handler', isSwitch: true, reason: 'files of logs are not served' },
  ...FOREIGN_LOG_FLAGS,
];
