// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type ExemptPriorityLevelConfiguration = {
  readonly nominalConcurrencyShares?: number;
  readonly lendablePercent?: number;
};

export type FlowDistinguisherMethod = {
  readonly type: string;
};

/** Which requests belong together, and at which priority level they are served. */
export type FlowSchema = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: FlowSchemaSpec;
  readonly status?: FlowSchemaStatus;
};

export type FlowSchemaCondition = {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind FlowSchema. */
export type FlowSchemaList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly FlowSchema[] | null;
};

export type FlowSchemaSpec = {
  readonly priorityLevelConfiguration: PriorityLevelConfigurationReference;
  readonly matchingPrecedence: number;
  readonly distinguisherMethod?: FlowDistinguisherMethod;
  readonly rules?: readonly PolicyRulesWithSubjects[];
};

export type FlowSchemaStatus = {
  readonly conditions?: readonly FlowSchemaCondition[];
};

export type GroupSubject = {
  readonly name: string;
};

export type LimitResponse = {
  readonly type: string;
  readonly queuing?: QueuingConfiguration;
};

export type LimitedPriorityLevelConfiguration = {
  readonly nominalConcurrencyShares: number | null;
  readonly limitResponse: LimitResponse;
  readonly lendablePercent?: number;
  readonly borrowingLimitPercent?: number;
};

export type NonResourcePolicyRule = {
  readonly verbs: readonly string[] | null;
  readonly nonResourceURLs: readonly string[] | null;
};

export type PolicyRulesWithSubjects = {
  readonly subjects: readonly Subject[] | null;
  readonly resourceRules?: readonly ResourcePolicyRule[];
  readonly nonResourceRules?: readonly NonResourcePolicyRule[];
};

/** How many requests of one level of priority are served at a time, and what becomes of the others. */
export type PriorityLevelConfiguration = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PriorityLevelConfigurationSpec;
  readonly status?: PriorityLevelConfigurationStatus;
};

export type PriorityLevelConfigurationCondition = {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind PriorityLevelConfiguration. */
export type PriorityLevelConfigurationList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PriorityLevelConfiguration[] | null;
};

export type PriorityLevelConfigurationReference = {
  readonly name: string;
};

export type PriorityLevelConfigurationSpec = {
  readonly type: string;
  readonly limited?: LimitedPriorityLevelConfiguration;
  readonly exempt?: ExemptPriorityLevelConfiguration;
};

export type PriorityLevelConfigurationStatus = {
  readonly conditions?: readonly PriorityLevelConfigurationCondition[];
};

export type QueuingConfiguration = {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
};

export type ResourcePolicyRule = {
  readonly verbs: readonly string[] | null;
  readonly apiGroups: readonly string[] | null;
  readonly resources: readonly string[] | null;
  readonly clusterScope?: boolean;
  readonly namespaces: readonly string[] | null;
};

export type ServiceAccountSubject = {
  readonly namespace: string;
  readonly name: string;
};

export type Subject = {
  readonly kind: string;
  readonly user?: UserSubject;
  readonly group?: GroupSubject;
  readonly serviceAccount?: ServiceAccountSubject;
};

export type UserSubject = {
  readonly name: string;
};
