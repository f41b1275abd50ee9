// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { ObjectMeta } from './meta-v1';

export type BoundObjectReference = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
};

export type SelfSubjectReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
};

export type SelfSubjectReviewStatus = {
  readonly userInfo: UserInfo;
};

/** Asks for a token of a service account. */
export type TokenRequest = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: TokenRequestSpec;
  readonly status?: TokenRequestStatus;
};

export type TokenRequestSpec = {
  readonly audiences: readonly string[] | null;
  readonly expirationSeconds: Int64 | null;
  readonly boundObjectRef: BoundObjectReference | null;
};

export type TokenRequestStatus = {
  readonly token: string;
  readonly expirationTimestamp: Time | null;
};

/** Asks whose token it is. */
export type TokenReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
};

export type TokenReviewSpec = {
  readonly token?: string;
  readonly audiences?: readonly string[];
};

export type TokenReviewStatus = {
  readonly authenticated?: boolean;
  readonly user: UserInfo;
  readonly audiences?: readonly string[];
  readonly error?: string;
};

export type UserInfo = {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[] | null>>;
};
