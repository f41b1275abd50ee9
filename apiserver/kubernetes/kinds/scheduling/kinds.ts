import { kindsOf } from '../kind';
import { priorityClasses } from './priority-classes';

export const scheduling = kindsOf('scheduling', { priorityclasses: priorityClasses });
