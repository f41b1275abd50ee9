import type { SelfSubjectReview } from '../../../../shared/api/types/authentication-v1';
import { formatTime } from '../../../../shared/meta/time';
import { operationOn } from '../../../engine/registry/operation';
import type { Kind } from '../kind';
import { reviewedUser } from './token-reviews';

/** Reports to a client which user its credentials are. Of its object nothing remains. */
const reviewSelf = operationOn<SelfSubjectReview>(async ({ store }, { user }) =>
  Promise.resolve({
    metadata: { creationTimestamp: formatTime(store.clock.now()) },
    status: { userInfo: reviewedUser(user) },
  }),
);

export const selfSubjectReviews: Kind = { virtual: { create: reviewSelf } };
