import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '../../../shared/api/types/apiextensions-v1';
import { deepEqual } from '../../../shared/object/clone';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import type { Condition } from '../../engine/registry/conditions';
import { withCondition, withoutCondition } from '../../engine/registry/conditions';
import type { ApprovalState } from '../kinds/apiextensions/crd-approval';
import { approvalStateOf } from '../kinds/apiextensions/crd-approval';
import { schemaOf } from '../kinds/apiextensions/crd-demands';
import { NEW_STATUS } from '../kinds/apiextensions/custom-resource-definitions';
import { newPatternBudget, validateStructure } from '../kinds/apiextensions/crd-structure';
import { problemsMessage } from './condition-message';
import type { Definition, DefinitionNames } from './definition';
import { establishedCondition, nameWithin } from './naming';

/**
 * Returns the definition with the next step in its status. The steps are: names, then established in a separate step, and schema and
 * approval conditions. Returns the same object if nothing changes.
 */
export function withNextStatus(
  object: CustomResourceDefinition,
  definition: Definition,
  { group, nowMs }: { readonly group: Iterable<Definition>; readonly nowMs: number },
): CustomResourceDefinition {
  const checked = withSpecConditions(object, nowMs);
  const { acceptedNames, namesAccepted } = nameWithin(definition, group);
  const named = withCondition(withAcceptedNames(checked, acceptedNames), namesAccepted, nowMs);
  if (named === checked && namesAccepted.status === 'True') return withCondition(named, ESTABLISHED, nowMs);
  const established = establishedCondition(named, namesAccepted);
  return established === undefined ? named : withCondition(named, established, nowMs);
}

const ESTABLISHED: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};

function withAcceptedNames(
  object: CustomResourceDefinition,
  names: DefinitionNames,
): CustomResourceDefinition {
  const { status = NEW_STATUS } = object;
  const { plural, singular, shortNames, kind, listKind, categories } = names;
  const accepted: CustomResourceDefinitionNames = {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    kind,
    ...(listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  if (deepEqual(accepted, status.acceptedNames)) return object;
  return { ...object, status: { ...status, acceptedNames: accepted } };
}

function withSpecConditions(object: CustomResourceDefinition, nowMs: number): CustomResourceDefinition {
  const problems = structureProblems(object).map(({ field, message }) => `${field}: ${message}`);
  const checked =
    problems.length === 0
      ? withoutCondition(object, NON_STRUCTURAL)
      : withCondition(
          object,
          { type: NON_STRUCTURAL, status: 'True', reason: 'Violations', message: problemsMessage(problems) },
          nowMs,
        );
  const approval = approvalCondition(object);
  return approval === undefined ? checked : withCondition(checked, approval, nowMs);
}

const NON_STRUCTURAL = 'NonStructuralSchema';

function structureProblems({ spec }: CustomResourceDefinition): readonly FieldError[] {
  const patterns = newPatternBudget();
  return [
    ...(spec.preserveUnknownFields === true
      ? [invalid('spec.preserveUnknownFields', true, 'must be false')]
      : []),
    ...(spec.versions ?? []).flatMap((version, index) => {
      const schema = schemaOf(version);
      if (schema === undefined) return [];
      return validateStructure(schema, `spec.versions[${String(index)}].schema.openAPIV3Schema`, patterns);
    }),
  ];
}

function approvalCondition(object: CustomResourceDefinition): Condition | undefined {
  const found = approvalStateOf(object);
  if (found === undefined) return undefined;
  const type = 'KubernetesAPIApprovalPolicyConformant';
  const status = found.state === 'approved' ? 'True' : 'False';
  return { type, status, reason: APPROVAL_REASONS[found.state], message: found.reason };
}

const APPROVAL_REASONS: Readonly<Record<ApprovalState['state'], string>> = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  invalid: 'InvalidAnnotation',
  missing: 'MissingAnnotation',
};
