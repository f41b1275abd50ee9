import type { DeploymentSpec } from '../../../../shared/api/types/apps-v1';
import type { PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { deepEqual } from '../../../../shared/object/clone';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { KindSettings } from '../../../engine/registry/strategy';
import { validatePodTemplateSpec, validateReplicatedPodSpec } from '../pod-template/pod-spec';
import { validateSharedDisks } from '../pod-template/volumes';
import { selectorInGo } from '../rules/selector-in-go';
import { parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';

/** ReplicationController, ReplicaSet, Deployment, DaemonSet, PodTemplate and ControllerRevision. */

export const POD_SPEC = 'spec.template.spec';

/** The selector of a workload stays what it was. */
export function sameSelector<T extends { readonly spec: Pick<DeploymentSpec, 'selector'> }>(
  next: T,
  previous: T,
): FieldError[] {
  if (deepEqual(next.spec.selector, previous.spec.selector)) return [];
  const shown = selectorInGo(next.spec.selector, getEmptiedFields(next, 'spec'));
  return [invalid('spec.selector', shown, 'field is immutable')];
}

export function selectorAndTemplate(
  workload: Workload & { readonly spec: Pick<DeploymentSpec, 'selector'> },
  settings: KindSettings,
): FieldError[] {
  const { selector: given } = workload.spec;
  const selector = parsedSelector(given);
  const emptied = getEmptiedFields(workload, 'spec');
  return [
    ...validateOwnSelector(given, 'deployment', emptied),
    ...(selector === undefined
      ? [invalid('spec.selector', selectorInGo(given, emptied), 'invalid label selector')]
      : replicatedTemplate(workload, selector, { kind: 'ReplicaSet', settings })),
  ];
}

interface Workload {
  readonly spec: { readonly replicas?: number; readonly template?: PodTemplateSpec };
}

export function replicatedTemplate(
  workload: Workload,
  selector: LabelSelector,
  { kind, settings }: { readonly kind: string; readonly settings: KindSettings },
): FieldError[] {
  const { replicas = 0, template } = workload.spec;
  const path = 'spec.template';
  if (template === undefined) return [required(path)];
  return [
    ...selectsTemplate(selector, template, getEmptiedFields(workload, 'spec')),
    ...validatePodTemplateSpec(template, path, settings),
    ...(replicas > 1 ? validateSharedDisks(template.spec.volumes, `${path}.spec.volumes`) : []),
    ...validateReplicatedPodSpec(template, path, kind),
  ];
}

/** The type of a kind's strategy, and that of the parameters of its rolling update. */
const TYPES = {
  DaemonSet: ['DaemonSetUpdateStrategy', 'RollingUpdateDaemonSet'],
  Deployment: ['DeploymentStrategy', 'RollingUpdateDeployment'],
  StatefulSet: ['StatefulSetUpdateStrategy', 'RollingUpdateStatefulSetStrategy'],
} as const;

/** Formats an update strategy as upstream error messages do. Go prints the pointer to the parameters, so any address will do. */
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
