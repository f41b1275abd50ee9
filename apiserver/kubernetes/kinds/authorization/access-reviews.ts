import { isInForce } from '../../../../shared/api/changes';
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../../../shared/api/types/authorization-v1';
import type { SubjectAccessReviewSpec as OlderSpec } from '../../../../shared/api/types/authorization-v1beta1';
import { defined } from '../../../../shared/defined';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, invalidObject } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { badRequest } from '../../../../shared/errors/status-error';
import { validateSelectorAttributes } from '../../../../shared/meta/validate-labels';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject } from '../../../../shared/object/object';
import type { OperationContext, OperationRequest } from '../../../engine/registry/operation';
import { operationOn } from '../../../engine/registry/operation';
import type { AccessQuestion } from '../../../engine/request/access';
import type { UserInfo } from '../../../engine/request/exchange';
import type { Kind } from '../kind';

/** Of either version: v1 says `groups`, v1beta1 `group`. */
type AccessSpec = SubjectAccessReviewSpec & Pick<OlderSpec, 'group'>;

/** Whether somebody may do something. The answer is about now, and about the authorizers of this server. */
const reviewAccess = operationOn<SubjectAccessReview>(async (context, request, signal) => {
  const { spec } = request.object;
  refuse(request, [...attributeErrors(spec), ...subjectErrors(spec), ...metadataErrors(request.object)]);
  return decided(context, { request, user: subjectOf(spec) }, signal);
});

/** Like `reviewAccess`, restricted to the namespace of the path: the right to create local reviews does not cover other namespaces. */
const reviewLocalAccess = operationOn<LocalSubjectAccessReview>(async (context, request, signal) => {
  const { spec, metadata } = request.object;
  const { namespace = isInForce('reviewsInNamespaces') ? request.namespace : '' } = metadata;
  refuse(request, [
    ...attributeErrors(spec),
    ...subjectErrors(spec),
    ...metadataErrors(withoutNamespace(request.object), 'must be empty except for namespace'),
    ...placeErrors(spec, namespace),
  ]);
  if (namespace !== request.namespace) {
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${request.namespace}`);
  }
  return decided(context, { request, user: subjectOf(spec) }, signal);
});

/** Like `reviewAccess`, for the requesting user. */
const reviewOwnAccess = operationOn<SelfSubjectAccessReview>(async (context, request, signal) => {
  const { spec } = request.object;
  refuse(request, [...attributeErrors(spec), ...metadataErrors(request.object)]);
  return decided(context, { request, user: request.user }, signal);
});

/** Lists the rules of the requesting user in a namespace. */
const reviewOwnRules = operationOn<SelfSubjectRulesReview>(async ({ services }, request, signal) => {
  const { object, user } = request;
  const { namespace = '' } = object.spec;
  if (namespace === '') throw badRequest('no namespace on request');
  const { kind, apiVersion } = object;
  return {
    ...defined({ kind, apiVersion }),
    metadata: {},
    spec: {},
    status: await services.rulesOf(user, namespace, signal),
  };
});

async function decided(
  { services }: OperationContext,
  { request, user }: { readonly request: OperationRequest<SelfSubjectAccessReview>; readonly user: UserInfo },
  signal: AbortSignal,
): Promise<ApiObject> {
  const { object } = request;
  const question = questionOf(object.spec, user);
  const { decision, reason, error } = await services.authorize(question, signal);
  const status: SubjectAccessReviewStatus = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...defined({ evaluationError: error }),
  };
  return { ...object, status };
}

/** One of the two is there, and the other one is not. */
function questionOf(
  { resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec,
  user: UserInfo,
): AccessQuestion {
  const about = resourceAttributes ?? {};
  return {
    user,
    verb: (resourceAttributes ?? nonResourceAttributes)?.verb ?? '',
    isResourceRequest: resourceAttributes !== undefined,
    path: nonResourceAttributes?.path ?? '',
    apiGroup: about.group ?? '',
    apiVersion: about.version ?? '',
    namespace: about.namespace ?? '',
    resource: about.resource ?? '',
    subresource: about.subresource ?? '',
    name: about.name ?? '',
  };
}

function groupsOf({ groups, group }: AccessSpec): readonly string[] {
  return groups ?? group ?? [];
}

function subjectOf(spec: AccessSpec): UserInfo {
  return {
    name: spec.user ?? '',
    uid: spec.uid ?? '',
    groups: groupsOf(spec),
    extra: (spec.extra ?? {}) as UserInfo['extra'],
  };
}

function attributeErrors(spec: SelfSubjectAccessReviewSpec): readonly FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (resource !== undefined && path !== undefined) {
    return [
      invalid(
        'spec.nonResourceAttributes',
        pathInGo(path),
        'cannot be specified in combination with resourceAttributes',
      ),
      ...selectorErrors(resource),
    ];
  }
  if (resource !== undefined) return selectorErrors(resource);
  if (path !== undefined) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('spec.resourceAttributes', 'null', why)];
}

function selectorErrors({ fieldSelector, labelSelector }: ResourceAttributes): readonly FieldError[] {
  const path = 'spec.resourceAttributes';
  return [
    ...validateSelectorAttributes(fieldSelector, `${path}.fieldSelector`, { areLabels: false }),
    ...validateSelectorAttributes(labelSelector, `${path}.labelSelector`, { areLabels: true }),
  ];
}

function subjectErrors(spec: AccessSpec): readonly FieldError[] {
  if ((spec.user ?? '') !== '' || groupsOf(spec).length > 0) return [];
  return [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

function placeErrors(spec: AccessSpec, namespace: string): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const { namespace: given = '' } = resourceAttributes ?? {};
  return [
    ...(resourceAttributes === undefined || given === namespace
      ? []
      : [invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace')]),
    ...(nonResourceAttributes === undefined
      ? []
      : [
          invalid(
            'spec.nonResourceAttributes',
            pathInGo(nonResourceAttributes),
            'disallowed on this kind of request',
          ),
        ]),
  ];
}

function pathInGo({ path = '', verb = '' }: NonResourceAttributes): GoValue {
  return goStruct('authorization.NonResourceAttributes', { Path: goQuote(path), Verb: goQuote(verb) });
}

/** A question has no identity. Only its owners (managedFields) come with it. */
function metadataErrors({ metadata }: ApiObject, why = 'must be empty'): readonly FieldError[] {
  const { managedFields: _tracked, ...rest } = metadata;
  const given = Object.fromEntries(
    Object.entries(rest).filter(
      ([name, value]) => !isEmpty(value) && !(name === 'generation' && value === 0),
    ),
  );
  return deepEqual(given, {}) ? [] : [invalid('metadata', metadata, why)];
}

function withoutNamespace(object: ApiObject): ApiObject {
  const { namespace: _place, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined || value === '';
  return value === null || Object.keys(value).length === 0;
}

/** As upstream, these errors name no kind. */
function refuse({ endpoint }: OperationRequest, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: endpoint.row.group, kind: '' }, '', errors);
}

export const localSubjectAccessReviews: Kind = { virtual: { create: reviewLocalAccess, isAdmitted: false } };

export const selfSubjectAccessReviews: Kind = { virtual: { create: reviewOwnAccess, isAdmitted: false } };

export const selfSubjectRulesReviews: Kind = { virtual: { create: reviewOwnRules, isAdmitted: false } };

export const subjectAccessReviews: Kind = { virtual: { create: reviewAccess, isAdmitted: false } };
