import { GROUP } from '../../../../shared/names';
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from './access-review';
import type { KindGroup } from '../kind';

export const authorization: KindGroup = {
  group: GROUP.authorization,
  kinds: {
    localsubjectaccessreviews: { virtual: { create: reviewLocalAccess, isAdmitted: false } },
    selfsubjectaccessreviews: { virtual: { create: reviewOwnAccess, isAdmitted: false } },
    selfsubjectrulesreviews: { virtual: { create: reviewOwnRules, isAdmitted: false } },
    subjectaccessreviews: { virtual: { create: reviewAccess, isAdmitted: false } },
  },
};
