import { readFileSync } from 'node:fs';
import { startHaSet } from '../support/ha-set';
import { describeOperator } from './operator-suite';
import { prepareTarget } from './served-target';

describeOperator('with three replicas over etcd', async () => {
  const set = await startHaSet({
    replicas: 3,
    etcd: 3,
    balancer: true,
    controllerManagers: 2,
    dialect: 'kubernetes',
  });
  const ca = readFileSync(set.replicas[0]!.caFile);
  return prepareTarget({ server: set.server, ca, token: set.adminToken }, async () => set.stop());
});
