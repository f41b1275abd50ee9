import type {
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../../../shared/api/types/apps-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems } from '../../../../shared/meta/dns-names';
import { labelName } from '../../../../shared/meta/name-rules';
import type { IntOrString } from '../../../../shared/object/values';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { isSemanticallyEqual } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { scaleBySelector } from '../autoscaling/scale';
import { AGE, containerColumns, NAME, readyOfDesired } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { keepsTemplate } from '../pod-template/kept-template';
import { validateClaimSpec } from '../pod-template/claim-template';
import {
  validatePodTemplateSpec,
  validateReplicatedPodSpec,
  validateTemplateMeta,
} from '../pod-template/pod-spec';
import { privilegeRule } from '../pod-template/privileged-containers';
import { choice, forEachItem, nonNegative, optionalForm } from '../rules/primitives';
import { atMostAll, intOrPercent, isNone, shareInGo } from '../rules/rollout';
import { selectorInGo } from '../rules/selector-in-go';
import { parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';
import { partitionInGo, strategyInGo } from './workload-rules';
import { workloadStatus } from './workload-status';

/** Replicas, template and update strategy may change. */
const statefulSetRules: Pick<Strategy<StatefulSet>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: (statefulSet, { settings }) => [
    ...validateSpec(statefulSet),
    ...privilegeRule(statefulSet.spec.template.spec, { path: 'spec.template.spec', settings }),
  ],
  validateNew: ({ spec }, { settings }) => {
    const { serviceName, volumeClaimTemplates: claims = [] } = spec;
    return [
      ...(HAS_POD_RULES && parsedSelector(spec.selector) !== undefined ? podTemplate(spec, settings) : []),
      ...(isInForce('serviceNamesOfStatefulSets')
        ? optionalForm(serviceName, 'spec.serviceName', dns1123LabelProblems)
        : []),
      ...(HAS_POD_RULES
        ? forEachItem(claims, 'spec.volumeClaimTemplates', (claim, at) =>
            validateClaimSpec(claim.spec, `${at}.spec`),
          )
        : []),
    ];
  },
  validateUpdate: (next, previous, { settings }) => [
    // What was wrong before stays as it is.
    ...(HAS_POD_RULES &&
    parsedSelector(next.spec.selector) !== undefined &&
    podTemplate(previous.spec, settings).length === 0
      ? podTemplate(next.spec, settings)
      : []),
    ...(isSemanticallyEqual(STATEFUL_SET_SPEC, settled(next.spec), settled(previous.spec))
      ? []
      : [
          forbiddenField(
            'spec',
            `updates to statefulset spec for fields other than ${MUTABLE} are forbidden`,
          ),
        ]),
  ],
};

const HAS_POD_RULES = isInForce('podRulesOfStatefulSets');
const CHANGES_HISTORY = isInForce('revisionHistoryOfStatefulSets');
const MUTABLE = CHANGES_HISTORY
  ? "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"
  : "'replicas', 'template', and 'updateStrategy'";

/** The template with the volumes of the claims, and without the names that its controller sets. */
function podTemplate(
  { template, volumeClaimTemplates: claims = [] }: StatefulSetSpec,
  settings: KindSettings,
): readonly FieldError[] {
  const { hostname: _hostname, subdomain: _subdomain, volumes = [], ...spec } = template.spec;
  const made = new Set(claims.map(({ metadata: { name = '' } }) => name));
  return validatePodTemplateSpec(
    {
      ...template,
      spec: {
        ...spec,
        volumes: [
          ...[...made].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
          ...volumes.filter(({ name }) => !made.has(name)),
        ],
      },
    },
    'spec.template',
    settings,
  );
}

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
    ...retentionPolicy(spec, 'spec.persistentVolumeClaimRetentionPolicy'),
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...(isInForce('minReadyOfStatefulSets') ? nonNegative(spec.minReadySeconds, 'spec.minReadySeconds') : []),
    ...nonNegative(spec.ordinals?.start, 'spec.ordinals.start'),
    ...validateOwnSelector(spec.selector, 'statefulset', emptied),
    ...(selector === undefined
      ? [invalid('spec.selector', selectorInGo(spec.selector, emptied), '')]
      : selectsTemplate(selector, template, emptied)),
    ...(selector === undefined || HAS_POD_RULES ? [] : validateTemplateMeta(template, 'spec.template')),
    ...validateReplicatedPodSpec(template, 'spec.template', 'StatefulSet'),
  ];
}

/** What becomes of claims whose pods are gone. */
function retentionPolicy(
  { persistentVolumeClaimRetentionPolicy: policy }: StatefulSetSpec,
  path: string,
): FieldError[] {
  if (policy === undefined) return [];
  return (['whenDeleted', 'whenScaled'] as const).flatMap((name) =>
    choice(policy[name], `${path}.${name}`, ['Delete', 'Retain']),
  );
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
      return [
        ...nonNegative(rolling?.partition, `${at}.partition`),
        ...missingPods(rolling?.maxUnavailable, `${at}.maxUnavailable`),
      ];
    default:
      return [invalid(path, strategyInGo('StatefulSet', strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

/** At least one pod at a time, and not more than all. */
function missingPods(share: IntOrString | undefined, path: string): FieldError[] {
  if (share === undefined) return [];
  return [
    ...intOrPercent(share, path),
    ...(isNone(share) ? [invalid(path, shareInGo(share), 'cannot be 0')] : []),
    ...atMostAll(share, path),
  ];
}

/** The spec without what may change. Objects that were stored long ago do not all say what their claims are. */
function settled({
  replicas: _replicas,
  template: _template,
  updateStrategy: _strategy,
  minReadySeconds: _ready,
  ordinals: _ordinals,
  persistentVolumeClaimRetentionPolicy: _retention,
  revisionHistoryLimit: history,
  volumeClaimTemplates: claims = [],
  ...rest
}: StatefulSetSpec): object {
  return {
    ...rest,
    ...(CHANGES_HISTORY || history === undefined ? {} : { revisionHistoryLimit: history }),
    volumeClaimTemplates: claims.map(({ kind: _kind, apiVersion: _version, ...claim }) => claim),
  };
}

const statefulSetStrategy: Strategy<StatefulSet> = {
  ...keepsTemplate,
  ...statefulSetRules,
  ...(isInForce('labelNamesOfStatefulSets') ? { nameRule: labelName } : {}),
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
