import { kindsOf } from '../kind';
import { leases } from './leases';

export const coordination = kindsOf('coordination', { leases });
