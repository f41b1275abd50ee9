import type {
  FlowSchemaCondition,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
} from '../../../../shared/api/types/flowcontrol-v1';
import { GROUP, USER_GROUP } from '../../../../shared/names';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import { LENDS, limitedTo } from '../../../engine/fairness/level';
import type { FlowObjects, FlowResources } from '../../../engine/fairness/configuration';
import type { StoredResource } from '../../../engine/registry/resource';
import { forEachItem, repeatsIn } from '../rules/primitives';

const EVERYTHING = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const everythingOf = (...groups: readonly string[]): PolicyRulesWithSubjects => ({
  subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
  ...EVERYTHING,
});

type Specs<Spec> = Readonly<Record<string, Spec>>;

/** The first and the last schema, without which some requests would belong nowhere. */
export const MANDATORY_FLOW_SCHEMAS: Specs<FlowSchemaSpec> = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [everythingOf(USER_GROUP.masters)],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [everythingOf(USER_GROUP.unauthenticated, USER_GROUP.authenticated)],
  },
};

/** The levels of those schemas. */
export const MANDATORY_PRIORITY_LEVELS: Specs<PriorityLevelConfigurationSpec> = {
  exempt: {
    type: 'Exempt',
    ...(LENDS ? { exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } } : {}),
  },
  'catch-all': {
    type: 'Limited',
    limited: limitedTo(5, { type: 'Reject' }),
  },
};

/** The mandatory objects as flow control takes them. They are in force even if the store lacks them. */
export const MANDATORY_FLOW_OBJECTS: FlowObjects = {
  levels: objectsOf(MANDATORY_PRIORITY_LEVELS),
  schemas: objectsOf(MANDATORY_FLOW_SCHEMAS),
};

function objectsOf<Spec>(
  specs: Specs<Spec>,
): readonly { readonly metadata: ObjectMeta; readonly spec: Spec }[] {
  return Object.entries(specs).map(([name, spec]) => ({ metadata: { name }, spec }));
}

/** Finds the resources that configure flow control; those that are not served are undefined. */
export function findFlowResources(stored: readonly StoredResource[]): FlowResources {
  const find = (resource: string): StoredResource | undefined =>
    stored.find((each) => each.group === GROUP.flowcontrol && each.resource === resource);
  return { levels: find('prioritylevelconfigurations'), schemas: find('flowschemas') };
}

/** An object that the server relies on has the spec it expects, and no other. */
export function validateMandatory<Spec>(
  { metadata, spec }: { readonly metadata: ObjectMeta; readonly spec: Spec },
  specs: Specs<Spec>,
): FieldError[] {
  const { name = '' } = metadata;
  const fixed = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (fixed === undefined || deepEqual(spec, fixed)) return [];
  return [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)];
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Pick<FlowSchemaCondition, 'type'>[] };
}

/** The conditions of both kinds: each type is named, and once. */
export function validateFlowConditions({ status }: WithConditions): FieldError[] {
  const { conditions = [] } = status ?? {};
  const types = conditions.map(({ type = '' }) => type);
  const isRepeated = repeatsIn(types);
  return forEachItem(types, 'status.conditions', (type, path, index) => [
    ...(isRepeated(index) ? [duplicate(`${path}.type`, type)] : []),
    ...(type === '' ? [required(`${path}.type`, 'must not be empty')] : []),
  ]);
}
