import type { Toleration } from '../../../../shared/api/types/core-v1';
import { TAINT } from '../../../../shared/names';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { PODS } from '../../cluster/resources';
import { withSpec } from './with-spec';

const NO_EXECUTE = 'NoExecute';

/** Pods without their own tolerations tolerate not-ready and unreachable nodes for a while. */
export function defaultTolerationSeconds(seconds: {
  readonly notReady: number;
  readonly unreachable: number;
}): AdmissionPlugin {
  const defaults = [
    tolerationOf(TAINT.notReady, seconds.notReady),
    tolerationOf(TAINT.unreachable, seconds.unreachable),
  ];
  return pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
    mutate({ object }) {
      if (object === undefined) return object;
      const given = object.spec.tolerations ?? [];
      const missing = defaults.filter(({ key }) => !given.some((each) => isAbout(each, key)));
      if (missing.length === 0) return object;
      return withSpec(object, { tolerations: [...given, ...missing] });
    },
  });
}

function tolerationOf(key: string, tolerationSeconds: number): Toleration & { readonly key: string } {
  return { key, operator: 'Exists', effect: NO_EXECUTE, tolerationSeconds };
}

/** A toleration without a key matches every taint, one without an effect matches all effects. */
function isAbout({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === '' || key === taint) && (effect === '' || effect === NO_EXECUTE);
}
