import { GROUP } from '../../../../shared/names';
import type { KindGroup } from '../kind';
import { tokenReviews } from './token-reviews';

export const authentication: KindGroup = {
  group: GROUP.authentication,
  kinds: { tokenreviews: tokenReviews },
};
