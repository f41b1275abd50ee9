// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, IntOrString, Time } from '../../object/values';
import type { PersistentVolumeClaim, PodTemplateSpec } from './core-v1';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** One state of a StatefulSet or DaemonSet that can be gone back to. It never changes. */
export type ControllerRevision = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly data: unknown;
  readonly revision: Int64;
};

/** A list of objects of the kind ControllerRevision. */
export type ControllerRevisionList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ControllerRevision[] | null;
};

/** Runs a copy of a pod on every node, or on those that are selected. */
export type DaemonSet = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
};

export type DaemonSetCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind DaemonSet. */
export type DaemonSetList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly DaemonSet[] | null;
};

export type DaemonSetSpec = {
  readonly selector: LabelSelector | null;
  readonly template: PodTemplateSpec;
  readonly updateStrategy: DaemonSetUpdateStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
};

export type DaemonSetStatus = {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly observedGeneration?: Int64;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
};

export type DaemonSetUpdateStrategy = {
  readonly type?: string;
  readonly rollingUpdate?: RollingUpdateDaemonSet;
};

/** Keeps a number of equal pods running, and replaces them step by step when their template changes. */
export type Deployment = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: DeploymentSpec;
  readonly status?: DeploymentStatus;
};

export type DeploymentCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastUpdateTime: Time | null;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind Deployment. */
export type DeploymentList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Deployment[] | null;
};

/** What a Deployment should be like. */
export type DeploymentSpec = {
  readonly replicas?: number;
  readonly selector: LabelSelector | null;
  readonly template: PodTemplateSpec;
  readonly strategy: DeploymentStrategy;
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
};

export type DeploymentStatus = {
  readonly observedGeneration?: Int64;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly collisionCount?: number;
};

export type DeploymentStrategy = {
  readonly type?: string;
  readonly rollingUpdate?: RollingUpdateDeployment;
};

/** Keeps a number of equal pods running. */
export type ReplicaSet = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
};

export type ReplicaSetCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind ReplicaSet. */
export type ReplicaSetList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ReplicaSet[] | null;
};

export type ReplicaSetSpec = {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector: LabelSelector | null;
  readonly template: PodTemplateSpec;
};

export type ReplicaSetStatus = {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: Int64;
  readonly conditions?: readonly ReplicaSetCondition[];
};

export type RollingUpdateDaemonSet = {
  readonly maxUnavailable?: IntOrString;
  readonly maxSurge?: IntOrString;
};

export type RollingUpdateDeployment = {
  readonly maxUnavailable?: IntOrString;
  readonly maxSurge?: IntOrString;
};

export type RollingUpdateStatefulSetStrategy = {
  readonly partition?: number;
  readonly maxUnavailable?: IntOrString;
};

/** Keeps pods with lasting names and storage running. */
export type StatefulSet = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
};

export type StatefulSetCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind StatefulSet. */
export type StatefulSetList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly StatefulSet[] | null;
};

export type StatefulSetOrdinals = {
  readonly start: number;
};

export type StatefulSetPersistentVolumeClaimRetentionPolicy = {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
};

export type StatefulSetSpec = {
  readonly replicas?: number;
  readonly selector: LabelSelector | null;
  readonly template: PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
  readonly serviceName: string;
  readonly podManagementPolicy?: string;
  readonly updateStrategy: StatefulSetUpdateStrategy;
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly ordinals?: StatefulSetOrdinals;
};

export type StatefulSetStatus = {
  readonly observedGeneration?: Int64;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly availableReplicas: number;
};

export type StatefulSetUpdateStrategy = {
  readonly type?: string;
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
};
