// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { UserInfo as ImportedUserInfo } from './authentication-v1';
import type { ObjectMeta } from './meta-v1';

export type SelfSubjectReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
};

export type SelfSubjectReviewStatus = {
  readonly userInfo: ImportedUserInfo;
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
