import { ClientRequests } from '../../../shared/metrics/rest-client';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../../shared/log/log';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { Reading } from '../cluster/cluster-reader';
import { DEFAULT_PLUGIN_NAMES, PLUGIN_NAMES, choosePlugins, warningsOfPlugins } from './plugins';
import { DEFAULT_CALL_LIMITS } from './webhooks/call';
import { PodSecurityMetrics } from './pod-security/pod-security-metrics';
import { ExpressionMetrics } from './expressions/expression-metrics';
import { WebhookMetrics } from './webhooks/webhook-metrics';

const dir = mkdtempSync(path.join(tmpdir(), 'plugins-'));
const KUBECONFIG = {
  clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
  'current-context': 'x',
};
writeFileSync(path.join(dir, 'config'), JSON.stringify(KUBECONFIG));
afterAll(() => {
  rmSync(dir, { recursive: true });
});

const context = {
  authorize: async () => Promise.resolve({ decision: 'allow', reason: '' }) as never,
  randomInt: () => 0,
  clock: { now: () => 0 },
  tolerationSeconds: { notReady: 300, unreachable: 300 },
  configurations: new Map<string, unknown>([
    ['EventRateLimit', { limits: [{ type: 'Server', qps: 1, burst: 1 }] }],
    ['ImagePolicyWebhook', { imagePolicy: { kubeConfigFile: path.join(dir, 'config') } }],
  ]),
  provideNamespace: async () => Promise.resolve(),
  resourceOfKind: () => undefined,
  webhooks: {
    stored: [],
    cache: {} as ClusterCache,
    newReading: () => ({}) as Reading,
    limits: DEFAULT_CALL_LIMITS,
    metrics: new WebhookMetrics(),
    expressions: new ExpressionMetrics(),
    authorize: async () => Promise.resolve({ decision: 'allow', reason: '' }) as never,
    clock: { now: () => 0 },
    log: silentLog,
    requests: new ClientRequests(),
  },
  policies: {} as never,
  registerSharedLimit: () => undefined,
  podSecurityMetrics: new PodSecurityMetrics(),
  features: {
    validatingPolicies: true,
    mutatingPolicies: true,
    preemptionPolicy: true,
    podOverhead: true,
    boundTokens: true,
    inUseProtection: { claimsAndVolumes: true, classes: true },
    volumesGrow: true,
  },
  quotas: { ofNamespace: () => [], writeUsed: async () => Promise.reject(new Error('nothing is written')) },
};
const chosen = (enable: readonly string[], disable: readonly string[]) =>
  choosePlugins({ enable, disable }, context).map(({ name }) => name);

test('the default plugins are those of kube-apiserver v1.21, in its order', () => {
  expect(chosen([], [])).toEqual([
    'NamespaceLifecycle',
    'LimitRanger',
    'ServiceAccount',
    'TaintNodesByCondition',
    'Priority',
    'DefaultTolerationSeconds',
    'DefaultStorageClass',
    'StorageObjectInUseProtection',
    'PersistentVolumeClaimResize',
    'RuntimeClass',
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ]);
  expect(chosen([], [])).toEqual(DEFAULT_PLUGIN_NAMES);
});

test('plugins can be disabled and enabled in any order', () => {
  expect(chosen([], ['Priority', 'LimitRanger'])).toEqual(
    DEFAULT_PLUGIN_NAMES.filter((name) => name !== 'Priority' && name !== 'LimitRanger'),
  );
  expect(chosen(PLUGIN_NAMES.toReversed(), [])).toEqual(
    PLUGIN_NAMES.filter((name) => warningsOfPlugins([name]).length === 0),
  );
});
