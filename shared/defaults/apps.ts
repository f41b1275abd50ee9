import type { Part } from '../object/object';
import type {
  DaemonSet,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
  RollingUpdateDeployment,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../api/types/apps-v1';
import type { DefaultsTable } from './contract';

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
    values: { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: REVISIONS },
    derive: withTypedClaims,
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
