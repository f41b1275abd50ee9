import { GROUP } from '../../../../shared/names';
import { reviewToken } from './token-review';
import type { KindGroup } from '../kind';

export const authentication: KindGroup = {
  group: GROUP.authentication,
  kinds: {
    tokenreviews: { virtual: { create: reviewToken } },
  },
};
