import { kindsOf } from '../kind';
import { customResourceDefinitions } from './custom-resource-definitions';

export const apiextensions = kindsOf('apiextensions', {
  customresourcedefinitions: customResourceDefinitions,
});
