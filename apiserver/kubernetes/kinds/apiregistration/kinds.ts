import { pathSegmentName } from '../../../../shared/meta/name-rules';
import { apiServiceRules } from './api-services-rules';
import { apiServiceTable } from './columns';
import { kindsOf } from '../kind';

export const apiregistration = kindsOf('apiregistration', {
  apiservices: {
    strategy: {
      nameRule: pathSegmentName,
      metadataChecks: 'no domains',
      statusLeavesMetadata: true,
      statusTakes: ['deletionGracePeriodSeconds', 'deletionTimestamp', 'generateName'],
      requiresResourceVersion: true,
      ...apiServiceRules,
    },
    table: apiServiceTable,
  },
});
