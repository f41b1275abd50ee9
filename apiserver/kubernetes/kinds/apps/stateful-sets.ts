import type {
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../../../shared/api/types/apps-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { isSemanticallyEqual } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import type { Strategy } from '../../../engine/registry/strategy';
import { scaleBySelector } from '../autoscaling/scale';
import { AGE, containerColumns, NAME, readyOfDesired } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keepsTemplate } from '../pod-template/kept-template';
import { validateReplicatedPodSpec, validateTemplateMeta } from '../pod-template/pod-spec';
import { privilegeRule } from '../pod-template/privileged-containers';
import { nonNegative } from '../rules/primitives';
import { selectorInGo } from '../rules/selector-in-go';
import { parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';
import { partitionInGo, strategyInGo } from './workload-rules';
import { workloadStatus } from './workload-status';

/** Replicas, template and update strategy may change. */
const statefulSetRules: Pick<Strategy<StatefulSet>, 'validate' | 'validateUpdate'> = {
  validate: (statefulSet, { settings }) => [
    ...validateSpec(statefulSet),
    ...privilegeRule(statefulSet.spec.template.spec, { path: 'spec.template.spec', settings }),
  ],
  validateUpdate(next, previous) {
    if (isSemanticallyEqual(STATEFUL_SET_SPEC, settled(next.spec), settled(previous.spec))) return [];
    const why =
      "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden";
    return [forbiddenField('spec', why)];
  },
};

const STATEFUL_SET_SPEC = messageType('apps/v1.StatefulSetSpec');

/** The spec of the pods is checked when they are made, as upstream. */
function validateSpec(statefulSet: StatefulSet): FieldError[] {
  const { spec } = statefulSet;
  const { template } = spec;
  const emptied = getEmptiedFields(statefulSet, 'spec');
  const selector = parsedSelector(spec.selector);
  return [
    ...managementPolicy(spec.podManagementPolicy ?? '', 'spec.podManagementPolicy'),
    ...updateStrategy(spec.updateStrategy, 'spec.updateStrategy'),
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...validateOwnSelector(spec.selector, 'statefulset', emptied),
    ...(selector === undefined
      ? [invalid('spec.selector', selectorInGo(spec.selector, emptied), '')]
      : selectsTemplate(selector, template, emptied)),
    ...(selector === undefined ? [] : validateTemplateMeta(template, 'spec.template')),
    ...validateReplicatedPodSpec(template, 'spec.template', 'StatefulSet'),
  ];
}

function managementPolicy(policy: string, path: string): FieldError[] {
  if (policy === '') return [required(path)];
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function updateStrategy(strategy: StatefulSetUpdateStrategy, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const { type = '', rollingUpdate: rolling } = strategy;
  switch (type) {
    case '':
      return [required(path)];
    case 'OnDelete':
      return rolling === undefined
        ? []
        : [invalid(at, partitionInGo(rolling.partition), "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate':
      return nonNegative(rolling?.partition, `${at}.partition`);
    default:
      return [invalid(path, strategyInGo('StatefulSet', strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

/** The spec without what may change. Objects that were stored long ago do not all say what their claims are. */
function settled({
  replicas: _replicas,
  template: _template,
  updateStrategy: _strategy,
  volumeClaimTemplates: claims = [],
  ...rest
}: StatefulSetSpec): object {
  return {
    ...rest,
    volumeClaimTemplates: claims.map(({ kind: _kind, apiVersion: _version, ...claim }) => claim),
  };
}

const statefulSetStrategy: Strategy<StatefulSet> = {
  ...keepsTemplate,
  ...statefulSetRules,
  tracksGeneration: true,
  subresources: workloadStatus('statefulsets'),
};

const statefulSetTable = tableOf<StatefulSet>([
  NAME,
  { name: 'Ready', cell: readyOfDesired },
  AGE,
  ...containerColumns<StatefulSet>(({ spec }) => spec.template),
]);

export const statefulSets: Kind<StatefulSet> = {
  strategy: statefulSetStrategy,
  table: statefulSetTable,
  subresources: { scale: { is: 'view', view: { ...scaleBySelector, missing: 'object' } } },
};
