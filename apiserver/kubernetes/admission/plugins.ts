import type { Spanned } from '../../../shared/api-level';
import { isAtLevel } from '../../../shared/api-level';
import type { Clock } from '../../../shared/concurrency/clock';
import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import type { RandomInt } from '../../../shared/meta/generate-name';
import { alwaysAdmit, alwaysDeny } from './plugins/always';
import { alwaysPullImages } from './plugins/always-pull-images';
import type { Authorizer } from '../../engine/request/access';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './plugins/certificates';
import { defaultIngressClass, defaultStorageClass } from './plugins/default-class';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds';
import { denyEscalatingExec } from './plugins/deny-escalating-exec';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips';
import { eventRateLimit, eventRateLimitProblem } from './plugins/event-rate-limit';
import { extendedResourceToleration } from './plugins/extended-resource-toleration';
import { imagePolicyProblem } from './image-policy/configuration';
import { imagePolicyWebhook } from './image-policy/image-policy-webhook';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology';
import { limitRanger } from './plugins/limit-ranger';
import type { ProvideNamespace } from './plugins/namespace-existence';
import { namespaceAutoProvision, namespaceExists } from './plugins/namespace-existence';
import { namespaceLifecycle } from './plugins/namespace-lifecycle';
import { nodeRestriction } from './plugins/node-restriction';
import type { ResourceOfKind } from './plugins/owner-references-permission';
import { ownerReferencesPermission } from './plugins/owner-references-permission';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize';
import { persistentVolumeLabel } from './plugins/persistent-volume-label';
import type { AdmissionPlugin, NamedPlugin } from './plugin';
import { podNodeSelector, podNodeSelectorProblem } from './plugins/pod-node-selector';
import { podSecurityPolicy } from './pod-security-policy/pod-security-policy';
import { podSecurityProblem } from './pod-security/configuration';
import { podSecurity } from './pod-security/pod-security';
import type { PodSecurityMetrics } from './pod-security/pod-security-metrics';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction';
import { priority } from './plugins/priority';
import { mutatingPolicies } from './policies/mutating';
import type { PolicyParts } from './policies/policy-run';
import { validatingPolicies } from './policies/validating';
import type { QuotaRecords } from './resource-quota/quota-records';
import { resourceQuotaProblem } from './resource-quota/configuration';
import { resourceQuota } from './resource-quota/resource-quota';
import { runtimeClass } from './plugins/runtime-class';
import { securityContextDeny } from './plugins/security-context-deny';
import { serviceAccount } from './plugins/service-account';
import type { InUseProtection } from './plugins/storage-object-in-use-protection';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition';
import { webhookConfigurationProblem } from './webhooks/credentials';
import { mutatingWebhooks } from './webhooks/mutating';
import type { WebhookContext } from './webhooks/parts';
import { webhookParts } from './webhooks/parts';
import { validatingWebhooks } from './webhooks/validating';

/** Features (gates) that change what plugins do. */
export interface PluginFeatures {
  readonly validatingPolicies: boolean;
  readonly mutatingPolicies: boolean;
  readonly preemptionPolicy: boolean;
  readonly podOverhead: boolean;
  /** Pods get bound tokens instead of those of Secrets. */
  readonly boundTokens: boolean;
  readonly inUseProtection: InUseProtection;
  /** Nodes report the progress of volume expansion. */
  readonly volumesGrow: boolean;
}

/** What plugins need besides other objects. */
export interface PluginContext {
  readonly authorize: Authorizer;
  readonly randomInt: RandomInt;
  readonly clock: Clock;
  /** Default toleration of pods for not-ready and unreachable nodes, in seconds. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** Sections of `--admission-control-config-file`, by plugin name. */
  readonly configurations: ReadonlyMap<string, unknown>;
  readonly provideNamespace: ProvideNamespace;
  readonly resourceOfKind: ResourceOfKind;
  readonly webhooks: WebhookContext;
  readonly policies: PolicyParts;
  readonly podSecurityMetrics: PodSecurityMetrics;
  /** The enabled features. */
  readonly features: PluginFeatures;
  readonly quotas: QuotaRecords;
  /** Registers a limit that replicas may share. */
  readonly registerSharedLimit: (limit: SharedLimit) => void;
}

interface PluginRow extends Spanned {
  readonly name: string;
  /** Whether it is enabled by default. */
  readonly isDefault: boolean;
  /** Without this feature it does not run, even if it is enabled. */
  readonly needs?: keyof PluginFeatures;
  readonly create: (context: PluginContext) => AdmissionPlugin;
}

const on = (
  name: string,
  create: PluginRow['create'],
  releases: Spanned & Pick<PluginRow, 'needs'> = {},
): PluginRow => ({
  name,
  isDefault: true,
  create,
  ...releases,
});
const off = (name: string, create: PluginRow['create'], releases: Spanned = {}): PluginRow => ({
  name,
  isDefault: false,
  create,
  ...releases,
});

const POD_NODE_SELECTOR = 'PodNodeSelector';
const POD_SECURITY = 'PodSecurity';
const POD_TOLERATION_RESTRICTION = 'PodTolerationRestriction';
const IMAGE_POLICY_WEBHOOK = 'ImagePolicyWebhook';
const EVENT_RATE_LIMIT = 'EventRateLimit';
const MUTATING_WEBHOOKS = 'MutatingAdmissionWebhook';
const VALIDATING_WEBHOOKS = 'ValidatingAdmissionWebhook';
const RESOURCE_QUOTA = 'ResourceQuota';

/** Returns the kubeconfig settings for webhooks that no plugin calls: those of the validating plugin, else of the mutating one. */
export function webhookConfiguration(configurations: ReadonlyMap<string, unknown>): unknown {
  return configurations.get(VALIDATING_WEBHOOKS) ?? configurations.get(MUTATING_WEBHOOKS);
}

/** All plugins of all levels, in the order of kube-apiserver. */
const ALL_PLUGINS: readonly PluginRow[] = [
  off('AlwaysAdmit', () => alwaysAdmit),
  off('NamespaceAutoProvision', ({ provideNamespace }) => namespaceAutoProvision(provideNamespace)),
  on('NamespaceLifecycle', () => namespaceLifecycle),
  off('NamespaceExists', () => namespaceExists),
  off('SecurityContextDeny', () => securityContextDeny, { until: '1.29' }),
  off('LimitPodHardAntiAffinityTopology', () => limitPodHardAntiAffinityTopology),
  on('LimitRanger', ({ clock }) => limitRanger(clock)),
  on('ServiceAccount', ({ randomInt, features }) =>
    serviceAccount({ randomInt, boundTokens: features.boundTokens }),
  ),
  off('NodeRestriction', ({ features }) => nodeRestriction(features.volumesGrow)),
  on('TaintNodesByCondition', () => taintNodesByCondition),
  off('AlwaysPullImages', () => alwaysPullImages),
  off(IMAGE_POLICY_WEBHOOK, ({ webhooks, configurations }) =>
    imagePolicyWebhook(configurations.get(IMAGE_POLICY_WEBHOOK), webhooks),
  ),
  on(
    POD_SECURITY,
    ({ configurations, podSecurityMetrics }) =>
      podSecurity(configurations.get(POD_SECURITY), podSecurityMetrics),
    { since: '1.23' },
  ),
  off('PodSecurityPolicy', ({ authorize }) => podSecurityPolicy(authorize), { until: '1.24' }),
  off(POD_NODE_SELECTOR, ({ configurations }) => podNodeSelector(configurations.get(POD_NODE_SELECTOR))),
  on('Priority', ({ features }) => priority(features.preemptionPolicy)),
  on('DefaultTolerationSeconds', ({ tolerationSeconds }) => defaultTolerationSeconds(tolerationSeconds)),
  off(POD_TOLERATION_RESTRICTION, ({ configurations }) =>
    podTolerationRestriction(configurations.get(POD_TOLERATION_RESTRICTION)),
  ),
  off('DenyEscalatingExec', () => denyEscalatingExec),
  off(EVENT_RATE_LIMIT, ({ configurations, ...context }) =>
    eventRateLimit(configurations.get(EVENT_RATE_LIMIT), context),
  ),
  off('ExtendedResourceToleration', () => extendedResourceToleration),
  off('PersistentVolumeLabel', () => persistentVolumeLabel, { until: '1.30' }),
  on('DefaultStorageClass', () => defaultStorageClass),
  on('StorageObjectInUseProtection', ({ features }) =>
    storageObjectInUseProtection(features.inUseProtection),
  ),
  off('OwnerReferencesPermissionEnforcement', ({ authorize, resourceOfKind }) =>
    ownerReferencesPermission(authorize, resourceOfKind),
  ),
  on('PersistentVolumeClaimResize', () => persistentVolumeClaimResize),
  on('RuntimeClass', ({ features }) => runtimeClass(features.podOverhead)),
  on('CertificateApproval', ({ authorize }) => certificateApproval(authorize)),
  on('CertificateSigning', ({ authorize }) => certificateSigning(authorize)),
  on('CertificateSubjectRestriction', () => certificateSubjectRestriction),
  on('DefaultIngressClass', () => defaultIngressClass),
  off('DenyServiceExternalIPs', () => denyServiceExternalIps),
  on('MutatingAdmissionPolicy', ({ policies }) => mutatingPolicies(policies), {
    since: '1.32',
    needs: 'mutatingPolicies',
  }),
  on(MUTATING_WEBHOOKS, ({ webhooks, configurations }) =>
    mutatingWebhooks(webhookParts(webhooks, configurations.get(MUTATING_WEBHOOKS))),
  ),
  on('ValidatingAdmissionPolicy', ({ policies }) => validatingPolicies(policies), {
    since: '1.26',
    needs: 'validatingPolicies',
  }),
  on(VALIDATING_WEBHOOKS, ({ webhooks, configurations }) =>
    validatingWebhooks(webhookParts(webhooks, configurations.get(VALIDATING_WEBHOOKS))),
  ),
  on(RESOURCE_QUOTA, ({ quotas, configurations, clock, randomInt }) =>
    resourceQuota({ records: quotas, configuration: configurations.get(RESOURCE_QUOTA), clock, randomInt }),
  ),
  off('AlwaysDeny', () => alwaysDeny),
];

const PLUGINS = ALL_PLUGINS.filter((row) => isAtLevel(row));

/** The plugins of all levels. Flags are read before the store says which level it has. */
export const PLUGIN_NAMES: readonly string[] = ALL_PLUGINS.map(({ name }) => name);
export const DEFAULT_PLUGIN_NAMES: readonly string[] = PLUGINS.filter(({ isDefault }) => isDefault).map(
  ({ name }) => name,
);

/** Returns why enabled plugins cannot run with these configurations, one sentence each. */
export function configurationProblems(
  enabled: readonly string[],
  configurations: ReadonlyMap<string, unknown>,
): readonly string[] {
  return CHECKED.filter(({ name }) => enabled.includes(name)).flatMap(({ name, problemOf }) => {
    const problem = problemOf(configurations.get(name));
    return problem === undefined ? [] : [`the configuration of ${name}: ${problem}`];
  });
}

const CHECKED = [
  { name: IMAGE_POLICY_WEBHOOK, problemOf: imagePolicyProblem },
  { name: POD_NODE_SELECTOR, problemOf: podNodeSelectorProblem },
  { name: POD_SECURITY, problemOf: podSecurityProblem },
  { name: EVENT_RATE_LIMIT, problemOf: eventRateLimitProblem },
  { name: MUTATING_WEBHOOKS, problemOf: webhookConfigurationProblem },
  { name: VALIDATING_WEBHOOKS, problemOf: webhookConfigurationProblem },
  { name: RESOURCE_QUOTA, problemOf: resourceQuotaProblem },
];

/** Returns a warning for each of these plugins that the API level does not have. */
export function warningsOfPlugins(enabled: readonly string[]): readonly string[] {
  return enabled
    .filter((name) => !PLUGINS.some((row) => row.name === name))
    .map((name) => `the admission plugin ${name} belongs to another API level and does not run`);
}

/** Changes to the default selection; the order of names does not matter. */
export interface PluginChoice {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/** Returns the enabled plugins: defaults and enabled ones without disabled ones. */
export function choosePlugins(
  { enable, disable }: PluginChoice,
  context: PluginContext,
): readonly NamedPlugin[] {
  return PLUGINS.filter(
    ({ name, isDefault, needs }) =>
      (needs === undefined || context.features[needs]) &&
      (enable.includes(name) || (isDefault && !disable.includes(name))),
  ).map(({ name, create }) => ({ name, plugin: create(context) }));
}
