import { GROUP } from '../../../../shared/names';
import type { KindGroup } from '../kind';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from './access-reviews';

export const authorization: KindGroup = {
  group: GROUP.authorization,
  kinds: {
    localsubjectaccessreviews: localSubjectAccessReviews,
    selfsubjectaccessreviews: selfSubjectAccessReviews,
    selfsubjectrulesreviews: selfSubjectRulesReviews,
    subjectaccessreviews: subjectAccessReviews,
  },
};
