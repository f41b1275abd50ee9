import type { PodSpec, Toleration } from '../../../../shared/api/types/core-v1';
import { isExtendedResource } from '../../kinds/pod-template/resource-requirements';
import { pluginOf, writesOf } from '../plugin';
import { PODS } from '../../cluster/resources';
import { withSpec } from './with-spec';

/** Pods that request an extended resource tolerate the taint of its nodes. */
export const extendedResourceToleration = pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
  mutate({ object }) {
    if (object === undefined) return object;
    const { spec } = object;
    const given = spec.tolerations ?? [];
    const tolerated = new Set(given.filter(isBare).map(({ key }) => key));
    const missing = devicesOf(spec).filter((key) => !tolerated.has(key));
    if (missing.length === 0) return object;
    return withSpec(object, {
      tolerations: [...given, ...missing.map((key) => ({ key, operator: 'Exists' }))],
    });
  },
});

/** Matches all effects and values. */
function isBare({ operator, effect = '', value = '' }: Toleration): boolean {
  return operator === 'Exists' && effect === '' && value === '';
}

function devicesOf({ containers, initContainers = [] }: PodSpec): readonly string[] {
  const names = [...(containers ?? []), ...initContainers].flatMap(({ resources }) =>
    Object.keys(resources.requests ?? {}),
  );
  return [...new Set(names.filter(isExtendedResource))].sort();
}
