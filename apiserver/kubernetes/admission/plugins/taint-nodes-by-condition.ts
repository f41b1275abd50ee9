import { TAINT } from '../../../../shared/names';
import { pluginOf, writesOf } from '../plugin';
import { NODES } from '../../cluster/resources';
import { withSpec } from './with-spec';

const EFFECT = 'NoSchedule';

/** Adds the not-ready taint to new nodes, so that they get no pods before their conditions are known. */
export const taintNodesByCondition = pluginOf(writesOf(NODES, ['CREATE']), {
  mutate({ object }) {
    if (object === undefined) return object;
    const { taints = [] } = object.spec;
    if (taints.some(({ key, effect }) => key === TAINT.notReady && effect === EFFECT)) return object;
    return withSpec(object, { taints: [...taints, { key: TAINT.notReady, effect: EFFECT }] });
  },
});
