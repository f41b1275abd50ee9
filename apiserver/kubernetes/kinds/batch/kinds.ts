import { kindsOf } from '../kind';
import { cronJobTable, jobTable } from './columns';
import { cronJobs, jobs } from './strategies';

export const batch = kindsOf('batch', {
  cronjobs: { strategy: cronJobs, table: cronJobTable },
  jobs: { strategy: jobs, table: jobTable },
});
