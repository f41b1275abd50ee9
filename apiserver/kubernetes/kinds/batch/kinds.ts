import { kindsOf } from '../kind';
import { cronJobs } from './cron-jobs';
import { jobs } from './jobs';

export const batch = kindsOf('batch', { cronjobs: cronJobs, jobs });
