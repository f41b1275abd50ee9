import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import { customResourceDefinitions } from './custom-resource-definitions-strategy';
import { kindsOf } from '../kind';

export const apiextensions = kindsOf('apiextensions', {
  customresourcedefinitions: { strategy: customResourceDefinitions, table: CREATED_AT_TABLE },
});
