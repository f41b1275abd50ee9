import type { ApiObject } from '../object/object';
import { ANNOTATION } from '../names';
import {
  annotationBehavior,
  behaviorText,
  withAnnotations,
  withoutCarriers,
} from './autoscaling-annotations';
import { flatSpec, flatStatus, nestedSpec, nestedStatus } from './autoscaling-metrics';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeList, changeObject, objectAt, without } from '../object/json';

/** autoscaling/v2beta1 has flat metrics, and carries behavior in an annotation. */
export const HORIZONTAL_POD_AUTOSCALER_V2BETA1: Conversion = {
  toHub(object) {
    const behavior = annotationBehavior(object);
    const converted = eachMetric(withoutCarriers(object), nestedSpec, nestedStatus);
    return behavior === undefined ? converted : withBehavior(converted, behavior);
  },
  fromHub(object) {
    const behavior = objectAt(objectAt(object, 'spec') ?? {}, 'behavior');
    const converted = eachMetric(object, flatSpec, flatStatus);
    if (behavior === undefined) return converted;
    return withAnnotations(withBehavior(converted, undefined), {
      [ANNOTATION.autoscalerBehavior]: behaviorText(behavior),
    });
  },
  settles: true,
};

/** Sets or removes the behavior of the spec. */
function withBehavior(object: ApiObject, behavior: ReadonlyJson | undefined): ApiObject {
  return changeObject(object, 'spec', (spec) =>
    behavior === undefined ? without(spec, 'behavior') : { ...spec, behavior },
  ) as ApiObject;
}

function eachMetric(
  object: ApiObject,
  ofSpec: (metric: ReadonlyJson) => ReadonlyJson,
  ofStatus: (metric: ReadonlyJson) => ReadonlyJson,
): ApiObject {
  const converted = changeObject(object, 'spec', (spec) => changeList(spec, 'metrics', ofSpec));
  return changeObject(converted, 'status', (status) =>
    changeList(status, 'currentMetrics', ofStatus),
  ) as ApiObject;
}
