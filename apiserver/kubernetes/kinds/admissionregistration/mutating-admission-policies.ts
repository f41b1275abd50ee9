import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
} from '../../../../shared/api/types/admissionregistration-v1';
import { APPLIED_OBJECT, JSON_PATCH } from '../../../../shared/cel/admission/patch-types';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, requiredChoice, requiredText } from '../rules/primitives';
import { ExpressionValidator } from './match-conditions';
import {
  mutatedOperations,
  paramKindText,
  paramRefText,
  validateMatchResources,
  validateParamRef,
  validatePolicy,
} from './policy-rules';

/** The field of a mutation for each type of patch, in the order of messages. */
const PATCH_FIELDS = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;
const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'] as const;
const PATCH_RESULTS = { ApplyConfiguration: APPLIED_OBJECT, JSONPatch: JSON_PATCH };

const policyRules: Pick<Strategy<MutatingAdmissionPolicy>, 'validateNew' | 'validateUpdate'> = {
  validateNew: (object, { bounds }) => validate(object, bounds),
  validateUpdate: (next, previous, { bounds }) => validate(next, bounds, previous),
};

function validate(
  { spec }: MutatingAdmissionPolicy,
  bounds: LoopBounds | undefined,
  previous?: MutatingAdmissionPolicy,
): FieldError[] {
  const { mutations = [], reinvocationPolicy } = spec;
  const expressions = new ExpressionValidator({
    hasParams: spec.paramKind !== undefined,
    hasVariables: true,
    bounds,
  });
  // Upstream takes the expressions of both types of patches for stored ones if an apply configuration has them.
  const stored = new Set((previous?.spec.mutations ?? []).map((each) => each.applyConfiguration?.expression));
  return [
    ...validatePolicy(spec, { expressions, previous: previous?.spec, isStoredVariable: () => false }),
    ...mutatedOperations(spec.matchConstraints, 'spec.matchConstraints'),
    ...(mutations.length === 0
      ? [required('spec.mutations', 'mutations must contain at least one item')]
      : forEachItem(mutations, 'spec.mutations', (mutation, at) =>
          validateMutation(mutation, at, (type, expression, path) =>
            expressions.expression(
              {
                source: expression.trim(),
                types: [PATCH_RESULTS[type]],
                use: { isMutation: true },
                isStored: stored.has(expression),
              },
              path,
            ),
          ),
        )),
    ...requiredChoice(reinvocationPolicy, 'spec.reinvocationPolicy', ['IfNeeded', 'Never']),
  ];
}

function validateMutation(
  mutation: Mutation,
  path: string,
  validateExpression: (type: (typeof PATCH_TYPES)[number], expression: string, at: string) => FieldError[],
): FieldError[] {
  const { patchType } = mutation;
  if (patchType === '') return [required(`${path}.patchType`)];
  const own = PATCH_TYPES.find((type) => type === patchType);
  if (own === undefined) return [notSupported(`${path}.patchType`, patchType, PATCH_TYPES)];
  return PATCH_TYPES.flatMap((type) => {
    const field = PATCH_FIELDS[type];
    const patch = mutation[field];
    if (type !== own) {
      const why = `must not be specified when patchType is ${own}`;
      return patch === undefined ? [] : [invalid(`${path}.${field}`, `{${field}}`, why)];
    }
    return patch === undefined
      ? [required(`${path}.${field}`, `must be specified when patchType is ${own}`)]
      : validateExpression(own, patch.expression ?? '', `${path}.${field}.expression`);
  });
}

const bindingRules: Pick<Strategy<MutatingAdmissionPolicyBinding>, 'validate'> = {
  validate: ({ spec }) => [
    ...requiredText(spec.policyName, 'spec.policyName', dns1123SubdomainProblems),
    ...validateParamRef(spec.paramRef, 'spec.paramRef'),
    ...(spec.matchResources === undefined
      ? []
      : validateMatchResources(spec.matchResources, 'spec.matchResources')),
    ...mutatedOperations(spec.matchResources, 'spec.matchResources'),
  ],
};

const strategy = {
  tracksGeneration: true,
  compat: { metadataChecks: 'no domains' },
  requiresResourceVersion: true,
} as const;

export const mutatingAdmissionPolicies: Kind<MutatingAdmissionPolicy> = {
  strategy: { ...strategy, ...policyRules },
  table: tableOf<MutatingAdmissionPolicy>([
    NAME,
    { name: 'Mutations', type: 'integer', cell: ({ spec }) => (spec.mutations ?? []).length },
    { name: 'ParamKind', cell: ({ spec }) => paramKindText(spec.paramKind) },
    AGE,
  ]),
};

export const mutatingAdmissionPolicyBindings: Kind<MutatingAdmissionPolicyBinding> = {
  strategy: { ...strategy, ...bindingRules },
  table: tableOf<MutatingAdmissionPolicyBinding>([
    NAME,
    { name: 'PolicyName', cell: ({ spec }) => spec.policyName ?? '' },
    { name: 'ParamRef', cell: ({ spec }) => paramRefText(spec.paramRef) },
    AGE,
  ]),
};
