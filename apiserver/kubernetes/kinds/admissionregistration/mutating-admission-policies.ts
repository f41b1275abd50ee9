import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
} from '../../../../shared/api/types/admissionregistration-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { forEachItem, requiredChoice, requiredText } from '../rules/primitives';
import { validateExpression } from './match-conditions';
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

const policyRules: Pick<Strategy<MutatingAdmissionPolicy>, 'validateNew' | 'validateUpdate'> = {
  validateNew: (object) => validate(object),
  validateUpdate: validate,
};

function validate({ spec }: MutatingAdmissionPolicy, previous?: MutatingAdmissionPolicy): FieldError[] {
  const { mutations = [], reinvocationPolicy } = spec;
  return [
    ...validatePolicy(spec, previous?.spec),
    ...mutatedOperations(spec.matchConstraints, 'spec.matchConstraints'),
    ...(mutations.length === 0
      ? [required('spec.mutations', 'mutations must contain at least one item')]
      : forEachItem(mutations, 'spec.mutations', validateMutation)),
    ...requiredChoice(reinvocationPolicy, 'spec.reinvocationPolicy', ['IfNeeded', 'Never']),
  ];
}

function validateMutation(mutation: Mutation, path: string): FieldError[] {
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
      : validateExpression(patch.expression ?? '', `${path}.${field}.expression`);
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
