import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { goQuote } from '../../../../shared/errors/go-quote';

/** The type of a kind's strategy, and that of the parameters of its rolling update. */
const TYPES = {
  DaemonSet: ['DaemonSetUpdateStrategy', 'RollingUpdateDaemonSet'],
  Deployment: ['DeploymentStrategy', 'RollingUpdateDeployment'],
  StatefulSet: ['StatefulSetUpdateStrategy', 'RollingUpdateStatefulSetStrategy'],
} as const;

/** How a workload is updated, as refusals show it; parameters that are there are shown by where they lie, which nobody can know. */
export function strategyInGo(
  kind: keyof typeof TYPES,
  { type = '', rollingUpdate }: { readonly type?: string; readonly rollingUpdate?: object },
): GoValue {
  const [own, parameters] = TYPES[kind];
  return goStruct(`apps.${own}`, {
    Type: goQuote(type),
    RollingUpdate: `(*apps.${parameters})(${rollingUpdate === undefined ? 'nil' : '0xc000000000'})`,
  });
}

/** The parameters of a StatefulSet's rolling update. */
export function partitionInGo(partition: number | undefined): GoValue {
  return goStruct('apps.RollingUpdateStatefulSetStrategy', { Partition: String(partition ?? 0) });
}
