import { CUSTOM_RESOURCE_DEFINITION } from './apiextensions';
import { HORIZONTAL_POD_AUTOSCALER_V1 } from './autoscaling-v1';
import { HORIZONTAL_POD_AUTOSCALER_V2BETA1 } from './autoscaling-v2beta1';
import type { Conversion } from './conversion';
import { ENDPOINT_SLICE } from './discovery';
import { EVENT } from './events';
import { INGRESS } from './networking';
import { POD_DISRUPTION_BUDGET } from './policy';
import { SUBJECTS } from './rbac';
import { ACCESS_REVIEW, RUNTIME_CLASS } from './renames';
import { ownKeyMap } from '../own-key-map';

/** Conversions by the message of the version. A version that is not in this table has the fields of its hub. */
const CONVERSIONS = ownKeyMap<Conversion>({
  'apiextensions/v1beta1.CustomResourceDefinition': CUSTOM_RESOURCE_DEFINITION,
  'authorization/v1beta1.LocalSubjectAccessReview': ACCESS_REVIEW,
  'authorization/v1beta1.SubjectAccessReview': ACCESS_REVIEW,
  'autoscaling/v1.HorizontalPodAutoscaler': HORIZONTAL_POD_AUTOSCALER_V1,
  'autoscaling/v2beta1.HorizontalPodAutoscaler': HORIZONTAL_POD_AUTOSCALER_V2BETA1,
  'discovery/v1beta1.EndpointSlice': ENDPOINT_SLICE,
  'events/v1.Event': EVENT,
  'events/v1beta1.Event': EVENT,
  'extensions/v1beta1.Ingress': INGRESS,
  'networking/v1beta1.Ingress': INGRESS,
  'node/v1alpha1.RuntimeClass': RUNTIME_CLASS,
  'policy/v1beta1.PodDisruptionBudget': POD_DISRUPTION_BUDGET,
  'rbac/v1alpha1.ClusterRoleBinding': SUBJECTS,
  'rbac/v1alpha1.RoleBinding': SUBJECTS,
});

/**
 * Returns the conversion of a row of the resource table; undefined when at most the apiVersion differs from
 * the hub's.
 */
export function conversionOf(row: { readonly schema: string }): Conversion | undefined {
  return CONVERSIONS.get(row.schema);
}

/** Returns the names of hub fields in field selectors of a version. Other names equal the hub's. */
export function selectorNamesOf(row: { readonly schema: string }): ReadonlyMap<string, string> {
  return SELECTOR_NAMES.get(row.schema) ?? new Map<string, string>();
}

const EVENT_SELECTORS = ownKeyMap<string>({
  'regarding.kind': 'involvedObject.kind',
  'regarding.namespace': 'involvedObject.namespace',
  'regarding.name': 'involvedObject.name',
  'regarding.uid': 'involvedObject.uid',
  'regarding.apiVersion': 'involvedObject.apiVersion',
  'regarding.resourceVersion': 'involvedObject.resourceVersion',
  'regarding.fieldPath': 'involvedObject.fieldPath',
  reportingController: 'reportingComponent',
  // This version cannot select by the field.
  source: '',
});

/** `spec.host` is the old name of `spec.nodeName`. */
const POD_SELECTORS = ownKeyMap<string>({
  'spec.host': 'spec.nodeName',
  'spec.nodeName': 'spec.nodeName',
});

const SELECTOR_NAMES = ownKeyMap<ReadonlyMap<string, string>>({
  'core/v1.Pod': POD_SELECTORS,
  'events/v1.Event': EVENT_SELECTORS,
  'events/v1beta1.Event': EVENT_SELECTORS,
});
