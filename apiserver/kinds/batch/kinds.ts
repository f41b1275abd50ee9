import { kindsOf } from '../kind';
import { TEMPLATE } from '../pod-template/kept-template';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import { cronJobTable, jobTable } from './columns';
import { cronJobs, jobs } from './strategies';

export const batch = kindsOf('batch', {
  cronjobs: {
    strategy: withPrivilegeRule(cronJobs, 'spec.jobTemplate.spec.template'),
    table: cronJobTable,
  },
  jobs: { strategy: withPrivilegeRule(jobs, TEMPLATE), table: jobTable },
});
