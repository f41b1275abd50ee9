import { readFileSync } from 'node:fs';
import { suiteHaSet } from '../support/suite';
import { describeOperator } from './operator-suite';
import { prepareTarget } from './served-target';

const set = suiteHaSet({
  replicas: 3,
  etcd: 3,
  balancer: true,
  controllerManagers: 2,
  dialect: 'kubernetes',
});

describeOperator('with three replicas over etcd', async () => {
  const ca = readFileSync(set.replicas[0]!.caFile);
  return prepareTarget({ server: set.server, ca, token: set.adminToken });
});
