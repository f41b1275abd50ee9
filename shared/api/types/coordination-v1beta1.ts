// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { MicroTime } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

/** Who holds something, and until when unless it is renewed. */
export type Lease = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: LeaseSpec;
};

export type LeaseCandidate = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: LeaseCandidateSpec;
};

/** A list of objects of the kind LeaseCandidate. */
export type LeaseCandidateList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly LeaseCandidate[] | null;
};

export type LeaseCandidateSpec = {
  readonly leaseName: string;
  readonly pingTime?: MicroTime;
  readonly renewTime?: MicroTime;
  readonly binaryVersion: string;
  readonly emulationVersion?: string;
  readonly strategy?: string;
};

/** A list of objects of the kind Lease. */
export type LeaseList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Lease[] | null;
};

export type LeaseSpec = {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: MicroTime;
  readonly renewTime?: MicroTime;
  readonly leaseTransitions?: number;
  readonly strategy?: string;
  readonly preferredHolder?: string;
};
