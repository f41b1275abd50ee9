// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64, Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

/** Says which server answers for a version of an API group. */
export type APIService = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
};

export type APIServiceCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
};

/** A list of objects of the kind APIService. */
export type APIServiceList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly APIService[] | null;
};

export type APIServiceSpec = {
  readonly service?: ServiceReference;
  readonly group?: string;
  readonly version?: string;
  readonly insecureSkipTLSVerify?: boolean;
  readonly caBundle?: Base64;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
};

export type APIServiceStatus = {
  readonly conditions?: readonly APIServiceCondition[];
};

export type ServiceReference = {
  readonly namespace?: string;
  readonly name?: string;
  readonly port?: number;
};
