import { GROUP } from '../../../shared/names';
import { createdAtRow } from '../columns/created-at';
import { customResourceDefinitions } from './custom-resource-definitions-strategy';
import type { KindGroup } from '../kind';

export const apiextensions: KindGroup = {
  group: GROUP.apiextensions,
  kinds: {
    customresourcedefinitions: { strategy: customResourceDefinitions, row: createdAtRow },
  },
};
