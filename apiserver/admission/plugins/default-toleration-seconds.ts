import { TAINT } from '../../../shared/names';
import type { Json } from '../../../shared/object/accessors';
import { records, text } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { PODS } from './resources';
import { specOf, withSpec } from './with-spec';

const NO_EXECUTE = 'NoExecute';

/** Pods stay for a while on a node that is not ready or out of reach, unless they say themselves for how long. */
export function defaultTolerationSeconds(seconds: {
  readonly notReady: number;
  readonly unreachable: number;
}): AdmissionPlugin {
  const defaults = [
    tolerationOf(TAINT.notReady, seconds.notReady),
    tolerationOf(TAINT.unreachable, seconds.unreachable),
  ];
  return {
    concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
    mutate({ object }) {
      const given = records(specOf(object)['tolerations']);
      const missing = defaults.filter(({ key }) => !given.some((each) => isAbout(each, text(key))));
      if (object === undefined || missing.length === 0) return object;
      return withSpec(object, { tolerations: [...given, ...missing] });
    },
  };
}

function tolerationOf(key: string, tolerationSeconds: number): Json {
  return { key, operator: 'Exists', effect: NO_EXECUTE, tolerationSeconds };
}

/** A toleration without a key is about every taint, one without an effect about all effects. */
function isAbout(toleration: Json, taint: string): boolean {
  const key = text(toleration['key']);
  const effect = text(toleration['effect']);
  return (key === '' || key === taint) && (effect === '' || effect === NO_EXECUTE);
}
