import { GROUP } from '../../../shared/names';
import { pathSegmentName } from '../../../shared/meta/name-rules';
import { apiServiceRules } from './api-services-rules';
import { apiServiceRow } from './columns';
import type { KindGroup } from '../kind';

export const apiregistration: KindGroup = {
  group: GROUP.apiregistration,
  kinds: {
    apiservices: {
      strategy: {
        nameRule: pathSegmentName,
        statusLeavesMetadata: true,
        requiresResourceVersion: true,
        ...apiServiceRules,
      },
      row: apiServiceRow,
    },
  },
};
