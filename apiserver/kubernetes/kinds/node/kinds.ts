import { kindsOf } from '../kind';
import { runtimeClasses } from './runtime-classes';

export const node = kindsOf('node', { runtimeclasses: runtimeClasses });
