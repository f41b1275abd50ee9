import type { Service } from '../api/types/core-v1';
import { GROUP } from '../names';
import { ONE, toCount } from './amounts';
import type { Evaluator } from './measure';

const NODE_PORTS = 'services.nodeports';
const LOAD_BALANCERS = 'services.loadbalancers';
const NAMES = ['count/services', 'services', NODE_PORTS, LOAD_BALANCERS];
const NONE = toCount(0);

/** Counts services, node ports and load balancers. The type of a service may change. */
export const services: Evaluator<Service> = {
  group: GROUP.core,
  resource: 'services',
  chargesUpdates: true,
  countsOnly: false,
  measures: (name) => NAMES.includes(name),
  measure: ({ spec: { type, ports = [] } }) => {
    const isBalanced = type === 'LoadBalancer';
    // Counts requested ports, since they may not be allocated yet.
    const nodePorts = isBalanced || type === 'NodePort' ? ports.length : 0;
    const usage = new Map([
      ['count/services', ONE],
      ['services', ONE],
      [NODE_PORTS, toCount(nodePorts)],
      [LOAD_BALANCERS, isBalanced ? ONE : NONE],
    ]);
    return { usage };
  },
  missing: () => [],
};
