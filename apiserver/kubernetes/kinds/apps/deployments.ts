import type {
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from '../../../../shared/api/types/apps-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { withNextGeneration } from '../../../../shared/meta/generation';
import { deepEqual } from '../../../../shared/object/clone';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { scaleBySelector } from '../autoscaling/scale';
import { AGE, containerColumns, NAME, readyOfDesired } from '../columns/common';
import { plainSelectorText } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keepsTemplate, withKeptTemplate } from '../pod-template/kept-template';
import { privilegeRule } from '../pod-template/privileged-containers';
import { fields, nonNegative } from '../rules/primitives';
import { atMostAll, intOrPercent, isNone, shareInGo } from '../rules/rollout';
import { POD_SPEC, sameSelector, selectorAndTemplate, strategyInGo } from './workload-rules';
import { workloadStatus } from './workload-status';

const deploymentRules: Pick<Strategy<Deployment>, 'validate' | 'validateUpdate'> = {
  validate: (deployment, { settings }) => {
    const { spec } = deployment;
    const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
    return [
      ...nonNegative(spec.replicas, 'spec.replicas'),
      ...selectorAndTemplate(deployment, settings),
      ...validateDeploymentStrategy(spec.strategy, 'spec.strategy'),
      ...rolloutCounts(spec, 'spec'),
      ...(deadline !== undefined && deadline <= minReadySeconds
        ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
        : []),
      ...privilegeRule(spec.template.spec, { path: POD_SPEC, settings }),
    ];
  },
  validateUpdate: sameSelector,
};

const rolloutCounts = fields<DeploymentSpec>({
  minReadySeconds: nonNegative,
  revisionHistoryLimit: nonNegative,
  progressDeadlineSeconds: nonNegative,
});

function validateDeploymentStrategy(strategy: DeploymentStrategy, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const { type = '', rollingUpdate: rolling } = strategy;
  switch (type) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return rolling === undefined
        ? [required(at, 'this should be defaulted and never be nil')]
        : rollingDeployment(rolling, at);
    default:
      return [notSupported(path, strategyInGo('Deployment', strategy), ['Recreate', 'RollingUpdate'])];
  }
}

function rollingDeployment(
  { maxUnavailable, maxSurge }: RollingUpdateDeployment,
  path: string,
): FieldError[] {
  const at = `${path}.maxUnavailable`;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...intOrPercent(maxSurge, `${path}.maxSurge`),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalid(at, shareInGo(maxUnavailable), 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...atMostAll(maxUnavailable, at),
  ];
}

const deploymentStrategy: Strategy<Deployment> = {
  compat: { metadataChecks: 'old names' },
  ...keepsTemplate,
  ...deploymentRules,
  tracksGeneration: true,
  resets: { status: ['metadata.labels'] },
  /** Annotations count as desired state here: the controller hands them on to ReplicaSets. */
  prepareForUpdate(next, previous, info) {
    const kept = withKeptTemplate(next, info, previous);
    if (deepEqual(annotationsOf(next.metadata), annotationsOf(previous.metadata))) return kept;
    return withNextGeneration(kept, previous);
  },
  subresources: {
    status: {
      ...workloadStatus('deployments').status,
      prepareForUpdate(next, previous) {
        const updated = statusSubresource.prepareForUpdate(next, previous);
        const { labels: _labels, ...metadata } = updated.metadata;
        const { labels } = previous.metadata;
        return { ...updated, metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) } };
      },
    },
  },
};

function annotationsOf({ annotations = {} }: ObjectMeta): Readonly<Record<string, string>> {
  return annotations;
}

const deploymentTable = tableOf<Deployment>([
  NAME,
  { name: 'Ready', cell: readyOfDesired },
  { name: 'Up-to-date', cell: ({ status }) => status?.updatedReplicas ?? 0 },
  { name: 'Available', cell: ({ status }) => status?.availableReplicas ?? 0 },
  AGE,
  ...containerColumns<Deployment>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => plainSelectorText(spec.selector) },
]);

/** The revision that an old version of Deployments was to go back to. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

export const deployments: Kind<Deployment> = {
  strategy: deploymentStrategy,
  table: deploymentTable,
  subresources: { scale: { is: 'view', view: scaleBySelector } },
  fieldAnnotations: [ROLLBACK_TO],
};
