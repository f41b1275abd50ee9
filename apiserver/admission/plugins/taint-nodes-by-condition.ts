import { TAINT } from '../../../shared/names';
import { records } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { NODES } from './resources';
import { specOf, withSpec } from './with-spec';

const EFFECT = 'NoSchedule';

/** A new node takes no pods before somebody has looked at its conditions. */
export const taintNodesByCondition: AdmissionPlugin = {
  concerns: writesOf(NODES, ['CREATE']),
  mutate({ object }) {
    const taints = records(specOf(object)['taints']);
    const isTainted = taints.some(({ key, effect }) => key === TAINT.notReady && effect === EFFECT);
    if (object === undefined || isTainted) return object;
    return withSpec(object, { taints: [...taints, { key: TAINT.notReady, effect: EFFECT }] });
  },
};
