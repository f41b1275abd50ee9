import type { Json } from '../../../shared/object/accessors';
import { record, records, text } from '../../../shared/object/accessors';
import { isExtendedResource } from '../../kinds/pod-template/resource-requirements';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { PODS } from './resources';
import { specOf, withSpec } from './with-spec';

/** A pod that asks for a device tolerates the taint that keeps others off the nodes that have it. */
export const extendedResourceToleration: AdmissionPlugin = {
  concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
  mutate({ object }) {
    const spec = specOf(object);
    const given = records(spec['tolerations']);
    const tolerated = new Set(given.filter(isBare).map(({ key }) => key));
    const missing = devicesOf(spec).filter((key) => !tolerated.has(key));
    if (object === undefined || missing.length === 0) return object;
    return withSpec(object, {
      tolerations: [...given, ...missing.map((key) => ({ key, operator: 'Exists' }))],
    });
  },
};

/** Of all effects and values. */
function isBare({ operator, effect, value }: Json): boolean {
  return operator === 'Exists' && text(effect) === '' && text(value) === '';
}

function devicesOf(spec: Json): readonly string[] {
  const containers = [...records(spec['containers']), ...records(spec['initContainers'])];
  const names = containers.flatMap((container) =>
    Object.keys(record(record(container['resources'])['requests'])),
  );
  return [...new Set(names.filter(isExtendedResource))].sort();
}
