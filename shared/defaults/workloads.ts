import type * as v2beta1 from '../api/types/autoscaling-v2beta1';
import type * as v2 from '../api/types/autoscaling-v2';
import type { Part } from '../object/object';
import type {
  DaemonSet,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
  RollingUpdateDeployment,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../api/types/apps-v1';
import type { DefaultsTable, IsOn, MessageDefaults } from './contract';
import { isInForce } from '../api/changes';
import type { CronJobSpec, Job } from '../api/types/batch-v1';

/** Revisions that workloads keep for a rollback. */
const REVISIONS = 10;

export const APPS: DefaultsTable = {
  'apps/v1.DaemonSet': { derive: ofDaemonSet },
  'apps/v1.DaemonSetSpec': { values: { revisionHistoryLimit: REVISIONS } },
  'apps/v1.DaemonSetUpdateStrategy': {
    values: { type: 'RollingUpdate' },
    derive: ofDaemonSetStrategy,
  },
  'apps/v1.DeploymentSpec': {
    values: { replicas: 1, revisionHistoryLimit: REVISIONS, progressDeadlineSeconds: 600 },
  },
  'apps/v1.DeploymentStrategy': {
    values: { type: 'RollingUpdate' },
    derive: rolling<RollingUpdateDeployment>({ maxUnavailable: '25%', maxSurge: '25%' }),
  },
  'apps/v1.ReplicaSetSpec': { values: { replicas: 1 } },
  'apps/v1.StatefulSetSpec': {
    values: {
      podManagementPolicy: 'OrderedReady',
      replicas: 1,
      revisionHistoryLimit: REVISIONS,
    },
    derive: ofStatefulSetSpec,
  },
  'apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy': {
    values: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
  'apps/v1.StatefulSetUpdateStrategy': { derive: ofStatefulSet },
};

/** A workload's update strategy with parameters `P` of a rolling update. */
interface Strategy<P> {
  readonly type?: string;
  readonly rollingUpdate?: P;
}

/** Returns defaults for the parameters of a rolling update. */
function rolling<P extends object>(parameters: P): (strategy: Strategy<P>) => Strategy<P> | undefined {
  return ({ type, rollingUpdate }) =>
    type === 'RollingUpdate' ? { rollingUpdate: { ...parameters, ...rollingUpdate } } : undefined;
}

const rollingDaemonSet = rolling<RollingUpdateDaemonSet>({ maxUnavailable: 1, maxSurge: 0 });

/** Upstream's internal type of the parameters has no absent number, for any strategy type. */
function ofDaemonSetStrategy(strategy: DaemonSetUpdateStrategy): Part<DaemonSetUpdateStrategy> | undefined {
  const { rollingUpdate } = strategy;
  if (strategy.type === 'RollingUpdate' || rollingUpdate === undefined) return rollingDaemonSet(strategy);
  return { rollingUpdate: { maxUnavailable: 0, maxSurge: 0, ...rollingUpdate } };
}

/** Unlike other workloads, a StatefulSet gets parameters only when it gets the type or has some parameters. */
function ofStatefulSet({
  type = '',
  rollingUpdate: given,
}: StatefulSetUpdateStrategy): Part<StatefulSetUpdateStrategy> | undefined {
  if (type !== '' && (type !== 'RollingUpdate' || given === undefined)) return undefined;
  return { type: 'RollingUpdate', rollingUpdate: { partition: 0, ...given } };
}

/** An old field is preserved as an annotation that every writer of a DaemonSet may set. */
function ofDaemonSet({ metadata }: DaemonSet): Part<DaemonSet> | undefined {
  const { annotations = {} } = metadata;
  if (annotations[TEMPLATE_GENERATION] !== undefined) return undefined;
  return { metadata: { ...metadata, annotations: { ...annotations, [TEMPLATE_GENERATION]: '0' } } };
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function ofStatefulSetSpec(spec: StatefulSetSpec, isOn: IsOn): Part<StatefulSetSpec> {
  const { persistentVolumeClaimRetentionPolicy: retention } = spec;
  return {
    ...withTypedClaims(spec),
    ...(retention === undefined && isOn('StatefulSetAutoDeletePVC')
      ? { persistentVolumeClaimRetentionPolicy: {} }
      : {}),
  };
}

/** Volume claim templates always have the kind and version of claims. */
function withTypedClaims({
  volumeClaimTemplates: claims,
}: StatefulSetSpec): Part<StatefulSetSpec> | undefined {
  const isTyped = claims?.every(
    ({ kind, apiVersion }) => kind === CLAIM.kind && apiVersion === CLAIM.apiVersion,
  );
  if (claims === undefined || isTyped === true) return undefined;
  return { volumeClaimTemplates: claims.map((claim) => ({ ...CLAIM, ...claim, ...CLAIM })) };
}

const CLAIM = { kind: 'PersistentVolumeClaim', apiVersion: 'v1' } as const;

const cronJobSpec: MessageDefaults<CronJobSpec> = {
  values: {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
};

export const BATCH: DefaultsTable = {
  'batch/v1.Job': { derive: ofJob },
  'batch/v1.CronJobSpec': cronJobSpec,
  'batch/v1beta1.CronJobSpec': cronJobSpec,
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': { values: { status: 'True' } },
};

/** With a limit for each index there is none for the Job. */
const INT32_MAX = 2_147_483_647;

/**
 * A Job with neither completions nor parallelism runs once, and parallelism defaults to 1. Job templates get
 * no defaults.
 */
function ofJob({ metadata, spec }: Job, isOn: IsOn): Part<Job> {
  const { completions, parallelism, backoffLimit, manualSelector, template } = spec;
  const { podFailurePolicy: failurePolicy, podReplacementPolicy: replacement } = spec;
  const isSingle = completions === undefined && parallelism === undefined;
  const { labels } = template.metadata;
  const needsLabels = labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0;
  return {
    spec: {
      ...spec,
      ...(isSingle ? { completions: 1 } : {}),
      parallelism: parallelism ?? 1,
      backoffLimit: backoffLimit ?? (spec.backoffLimitPerIndex === undefined ? 6 : INT32_MAX),
      ...(replacement === undefined && isOn('JobPodReplacementPolicy')
        ? { podReplacementPolicy: failurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed' }
        : {}),
      ...(manualSelector === undefined && isInForce('manualSelectorDefault')
        ? { manualSelector: false }
        : {}),
    },
    ...(needsLabels ? { metadata: { ...metadata, labels } } : {}),
  };
}

const CPU_PERCENT = 80;
const POLICY_SECONDS = 15;

const withTarget = withMetric<v2.MetricSpec>({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_PERCENT } },
});

/**
 * The default target is 80 % of the requested CPU. For autoscaling/v1 the conversion sets it, since its
 * metrics are in annotations.
 */
export const AUTOSCALING: DefaultsTable = {
  'autoscaling/v1.HorizontalPodAutoscalerSpec': { values: { minReplicas: 1 } },
  'autoscaling/v2beta1.HorizontalPodAutoscalerSpec': withMetric<v2beta1.MetricSpec>({
    type: 'Resource',
    resource: { name: 'cpu', targetAverageUtilization: CPU_PERCENT },
  }),
  'autoscaling/v2beta2.HorizontalPodAutoscalerSpec': withTarget,
  'autoscaling/v2.HorizontalPodAutoscalerSpec': withTarget,
  'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior': { derive: ofBehavior },
  'autoscaling/v2.HorizontalPodAutoscalerBehavior': { derive: ofBehavior },
};

interface MetricsSpec<Metric> {
  readonly minReplicas?: number;
  readonly metrics?: readonly Metric[];
}

function withMetric<Metric>(metric: Metric) {
  return {
    values: { minReplicas: 1 },
    derive: ({ metrics = [] }: MetricsSpec<Metric>) =>
      metrics.length === 0 ? { metrics: [metric] } : undefined,
  };
}

/** Scale up fast, by the policy that allows more. Scale down to the recommendation once it is stable. */
const SCALE_UP: v2.HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: POLICY_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS },
  ],
};
const SCALE_DOWN: v2.HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS }],
};

function ofBehavior({
  scaleUp,
  scaleDown,
}: v2.HorizontalPodAutoscalerBehavior): v2.HorizontalPodAutoscalerBehavior {
  return { scaleUp: { ...SCALE_UP, ...scaleUp }, scaleDown: { ...SCALE_DOWN, ...scaleDown } };
}

export const POLICY: DefaultsTable = {
  'policy/v1beta1.PodSecurityPolicySpec': { values: { allowPrivilegeEscalation: true } },
};

const priorityClass: MessageDefaults<{ readonly preemptionPolicy?: string }> = {
  values: { preemptionPolicy: 'PreemptLowerPriority' },
};

export const SCHEDULING: DefaultsTable = {
  'scheduling/v1.PriorityClass': priorityClass,
  'scheduling/v1beta1.PriorityClass': priorityClass,
  'scheduling/v1alpha1.PriorityClass': priorityClass,
};
