import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from '../../../../shared/api/types/admissionregistration-v1';
import {
  ANNOTATION_TYPES,
  CONDITION_TYPES,
  MESSAGE_TYPES,
} from '../../../../shared/cel/admission/expressions';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { choice, forEachItem, invalidForEach, needed, repeatsIn, requiredText } from '../rules/primitives';
import { ExpressionValidator } from './match-conditions';
import {
  paramKindText,
  paramRefText,
  validateMatchResources,
  validateParamRef,
  validatePolicy,
} from './policy-rules';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const AUDIT_ANNOTATIONS_MAX = 20;
const VALUE_EXPRESSION_BYTES_MAX = 5 * 1024;
const NOTHING = 'validations or auditAnnotations must contain at least one item';

const policyRules: Pick<
  Strategy<ValidatingAdmissionPolicy>,
  'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validateNew: (object, { bounds }) => validate(object, bounds),
  validateUpdate: (next, previous, { bounds }) => validate(next, bounds, previous),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ status }) => [
        ...forEachItem(
          status?.typeChecking?.expressionWarnings ?? [],
          'status.typeChecking.expressionWarnings',
          ({ fieldRef, warning }, path) => [
            ...needed(fieldRef, `${path}.fieldRef`),
            ...needed(warning, `${path}.warning`),
          ],
        ),
        ...validateConditions(status?.conditions, 'status.conditions'),
      ],
    },
  },
};

function validate(
  object: ValidatingAdmissionPolicy,
  bounds: LoopBounds | undefined,
  previous?: ValidatingAdmissionPolicy,
): FieldError[] {
  const { metadata, spec } = object;
  const { validations = [], auditAnnotations: annotations = [] } = spec;
  const expressions = new ExpressionValidator({
    hasParams: spec.paramKind !== undefined,
    hasVariables: (spec.variables ?? []).length > 0,
    bounds,
  });
  const stored = storedExpressions(previous);
  const common = validatePolicy(spec, {
    expressions,
    previous: previous?.spec,
    isStoredVariable: (expression) => stored.validations.has(expression),
  });
  if (validations.length + annotations.length === 0) {
    return [...common, required('spec.validations', NOTHING), required('spec.auditAnnotations', NOTHING)];
  }
  const isRepeated = repeatsIn(annotations.map(({ key }) => key));
  const path = 'spec.auditAnnotations';
  return [
    ...common,
    ...forEachItem(validations, 'spec.validations', (validation, at) =>
      validateValidation(validation, at, { expressions, stored }),
    ),
    ...(annotations.length > AUDIT_ANNOTATIONS_MAX
      ? [
          invalid(
            path,
            annotations,
            `must not have more than ${String(AUDIT_ANNOTATIONS_MAX)} auditAnnotations`,
          ),
        ]
      : []),
    ...forEachItem(annotations, path, (annotation, at, index) => [
      ...validateAnnotation(annotation, at, { policy: metadata.name ?? '', expressions, stored }),
      ...(isRepeated(index) ? [duplicate(`${at}.key`, annotation.key)] : []),
    ]),
  ];
}

/** The expressions of the stored policy, which may use all libraries. */
interface StoredExpressions {
  readonly validations: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
  readonly annotations: ReadonlySet<string>;
}

function storedExpressions(previous: ValidatingAdmissionPolicy | undefined): StoredExpressions {
  const { validations = [], auditAnnotations = [] } = previous?.spec ?? {};
  return {
    validations: new Set(validations.map(({ expression }) => expression)),
    messages: new Set(validations.map(({ messageExpression = '' }) => messageExpression)),
    annotations: new Set(auditAnnotations.map(({ valueExpression }) => valueExpression)),
  };
}

interface ExpressionPlace {
  readonly expressions: ExpressionValidator;
  readonly stored: StoredExpressions;
}

function validateValidation(
  validation: Validation,
  path: string,
  { expressions, stored }: ExpressionPlace,
): FieldError[] {
  const { expression, message = '', messageExpression = '', reason } = validation;
  const blank = 'must be non-empty if specified';
  return [
    ...expressions.expression(
      {
        source: expression,
        types: CONDITION_TYPES,
        isStored: stored.validations.has(expression),
        detail: 'expression is not specified',
      },
      `${path}.expression`,
    ),
    ...(messageExpression === ''
      ? []
      : messageExpression.trim() === ''
        ? [invalid(`${path}.messageExpression`, messageExpression, blank)]
        : expressions.expression(
            {
              source: messageExpression,
              types: MESSAGE_TYPES,
              use: { hasAuthorizer: false },
              isStored: stored.messages.has(messageExpression),
            },
            `${path}.messageExpression`,
          )),
    ...(message !== '' && message.trim() === '' ? [invalid(`${path}.message`, message, blank)] : []),
    ...(/[\r\n]/.test(message.trim())
      ? [invalid(`${path}.message`, message, 'must not contain line breaks')]
      : []),
    ...(reason === undefined || REASONS.includes(reason)
      ? []
      : [notSupported(`${path}.reason`, reason, REASONS)]),
  ];
}

/** The key of an audit event is `policy/key`. */
function validateAnnotation(
  { key, valueExpression }: AuditAnnotation,
  path: string,
  { policy, expressions, stored }: ExpressionPlace & { readonly policy: string },
): FieldError[] {
  const at = `${path}.valueExpression`;
  const bytes = Buffer.byteLength(valueExpression.trim());
  return [
    ...(policy === ''
      ? [invalid(`${path}.key`, key, 'requires metadata.name be non-empty')]
      : invalidForEach(qualifiedNameProblems(`${policy}/${key}`), `${policy}/${key}`, `${path}.key`)),
    ...(bytes > VALUE_EXPRESSION_BYTES_MAX
      ? [required(at, `must not exceed ${String(VALUE_EXPRESSION_BYTES_MAX)} bytes in length`)]
      : expressions.expression(
          {
            source: valueExpression.trim(),
            types: ANNOTATION_TYPES,
            isStored: stored.annotations.has(valueExpression),
            detail: 'valueExpression is not specified',
            shown: valueExpression,
          },
          at,
        )),
  ];
}

const bindingRules: Pick<Strategy<ValidatingAdmissionPolicyBinding>, 'validate'> = {
  validate: ({ spec }) => [
    ...requiredText(spec.policyName, 'spec.policyName', dns1123SubdomainProblems),
    ...validateParamRef(spec.paramRef, 'spec.paramRef'),
    ...(spec.matchResources === undefined
      ? []
      : validateMatchResources(spec.matchResources, 'spec.matchResources')),
    ...validateActions(spec.validationActions ?? [], 'spec.validationActions'),
  ],
};

function validateActions(actions: readonly string[], path: string): FieldError[] {
  if (actions.length === 0) return [required(path, 'at least one validation action is required')];
  const isRepeated = repeatsIn(actions);
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...forEachItem(actions, path, (action, at, index) => [
      ...choice(action, at, ACTIONS),
      ...(isRepeated(index) ? [duplicate(at, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalid(path, actions, both)] : []),
  ];
}

const strategy = {
  tracksGeneration: true,
  compat: { metadataChecks: 'no domains' },
  requiresResourceVersion: true,
} as const;

export const validatingAdmissionPolicies: Kind<ValidatingAdmissionPolicy> = {
  strategy: { ...strategy, statusLeavesMetadata: true, ...policyRules },
  table: tableOf<ValidatingAdmissionPolicy>([
    NAME,
    { name: 'Validations', type: 'integer', cell: ({ spec }) => (spec.validations ?? []).length },
    { name: 'ParamKind', cell: ({ spec }) => paramKindText(spec.paramKind) },
    AGE,
  ]),
};

export const validatingAdmissionPolicyBindings: Kind<ValidatingAdmissionPolicyBinding> = {
  strategy: { ...strategy, ...bindingRules },
  table: tableOf<ValidatingAdmissionPolicyBinding>([
    NAME,
    { name: 'PolicyName', cell: ({ spec }) => spec.policyName ?? '' },
    { name: 'ParamRef', cell: ({ spec }) => paramRefText(spec.paramRef) },
    AGE,
  ]),
};
