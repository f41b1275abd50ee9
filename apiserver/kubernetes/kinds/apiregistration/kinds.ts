import { kindsOf } from '../kind';
import { apiServices } from './api-services';

export const apiregistration = kindsOf('apiregistration', { apiservices: apiServices });
