import type { Json } from '../conversion/json';
import { objectAt, textAt } from '../conversion/json';
import type { DefaultsTable } from './contract';

/** Revisions that workloads keep for a roll-back. */
const REVISIONS = 10;

export const APPS: DefaultsTable = {
  'apps/v1.DaemonSetSpec': { values: { revisionHistoryLimit: REVISIONS } },
  'apps/v1.DaemonSetUpdateStrategy': {
    values: { type: 'RollingUpdate' },
    derive: rolling({ maxUnavailable: 1 }),
  },
  'apps/v1.DeploymentSpec': {
    values: { replicas: 1, revisionHistoryLimit: REVISIONS, progressDeadlineSeconds: 600 },
  },
  'apps/v1.DeploymentStrategy': {
    values: { type: 'RollingUpdate' },
    derive: rolling({ maxUnavailable: '25%', maxSurge: '25%' }),
  },
  'apps/v1.ReplicaSetSpec': { values: { replicas: 1 } },
  'apps/v1.StatefulSetSpec': {
    values: { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: REVISIONS },
  },
  'apps/v1.StatefulSetUpdateStrategy': { derive: ofStatefulSet },
};

/** A rolling update has these parameters where the client gives none. */
function rolling(parameters: Json): (strategy: Json) => Json | undefined {
  return (strategy) =>
    strategy['type'] === 'RollingUpdate'
      ? { rollingUpdate: { ...parameters, ...objectAt(strategy, 'rollingUpdate') } }
      : undefined;
}

/** Unlike other workloads, a stateful set gets parameters only when it gets the type, or names some. */
function ofStatefulSet(strategy: Json): Json | undefined {
  const isUnset = textAt(strategy, 'type') === '';
  const given = objectAt(strategy, 'rollingUpdate');
  if (!isUnset && (strategy['type'] !== 'RollingUpdate' || given === undefined)) return undefined;
  return { type: 'RollingUpdate', rollingUpdate: { partition: 0, ...given } };
}
