import { GROUP } from '../../../shared/names';
import type { KindGroup } from '../kind';
import { TEMPLATE } from '../pod-template/kept-template';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import { cronJobRow, jobRow } from './columns';
import { cronJobs, jobs } from './strategies';

export const batch: KindGroup = {
  group: GROUP.batch,
  kinds: {
    cronjobs: { strategy: withPrivilegeRule(cronJobs, 'spec.jobTemplate.spec.template'), row: cronJobRow },
    jobs: { strategy: withPrivilegeRule(jobs, TEMPLATE), row: jobRow },
  },
};
