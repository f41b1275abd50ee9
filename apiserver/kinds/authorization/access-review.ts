import { defined } from '../../../shared/defined';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, invalidObject } from '../../../shared/errors/field-error';
import type { ApiObject } from '../../../shared/object/object';
import { deepEqual } from '../../../shared/object/clone';
import { badRequest } from '../../../shared/errors/status-error';
import type { AccessQuestion } from '../../exchange/access';
import type { UserInfo } from '../../exchange/exchange';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, strings, stringMap, text } from '../../../shared/object/accessors';
import type { Operation, OperationContext, OperationRequest } from '../../registry/operation';

/** Whether somebody may do something. The answer is about now, and about the authorizers of this server. */
export const reviewAccess: Operation = async (context, request, signal) => {
  const spec = record(request.object['spec']);
  refuse(request, [...attributeErrors(spec), ...subjectErrors(spec), ...metadataErrors(request.object)]);
  return decided(context, { request, user: subjectOf(spec) }, signal);
};

/** The same within the namespace of the path: whoever may ask here need not be allowed to ask about other places. */
export const reviewLocalAccess: Operation = async (context, request, signal) => {
  const spec = record(request.object['spec']);
  refuse(request, [
    ...attributeErrors(spec),
    ...subjectErrors(spec),
    ...placeErrors(spec, request.namespace),
    ...metadataErrors(withoutNamespace(request.object)),
  ]);
  return decided(context, { request, user: subjectOf(spec) }, signal);
};

/** The same about whoever asks. */
export const reviewOwnAccess: Operation = async (context, request, signal) => {
  const spec = record(request.object['spec']);
  refuse(request, [...attributeErrors(spec), ...metadataErrors(request.object)]);
  return decided(context, { request, user: request.user }, signal);
};

/** What whoever asks may do in a namespace. */
export const reviewOwnRules: Operation = async ({ services }, { object, user }, signal) => {
  const namespace = text(record(object['spec'])['namespace']);
  if (namespace === '') throw badRequest('no namespace on request');
  const { kind, apiVersion } = object;
  return {
    ...defined({ kind, apiVersion }),
    metadata: {},
    spec: {},
    status: await services.rulesOf(user, namespace, signal),
  };
};

async function decided(
  { services }: OperationContext,
  { request, user }: { readonly request: OperationRequest; readonly user: UserInfo },
  signal: AbortSignal,
): Promise<ApiObject> {
  const { object } = request;
  const question = questionOf(record(object['spec']), user);
  const { decision, reason, error } = await services.authorize(question, signal);
  const status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...defined({ evaluationError: error }),
  };
  return { ...object, status };
}

function questionOf(spec: Json, user: UserInfo): AccessQuestion {
  const resource = optionalRecord(spec['resourceAttributes']);
  const about = resource ?? record(spec['nonResourceAttributes']);
  return {
    user,
    verb: text(about['verb']),
    isResourceRequest: resource !== undefined,
    path: text(about['path']),
    apiGroup: text(about['group']),
    apiVersion: text(about['version']),
    namespace: text(about['namespace']),
    resource: text(about['resource']),
    subresource: text(about['subresource']),
    name: text(about['name']),
  };
}

/** v1 says `groups`, v1beta1 `group`. */
function groupsOf(spec: Json): readonly string[] {
  return strings(spec['groups'] ?? spec['group']);
}

function subjectOf(spec: Json): UserInfo {
  return {
    name: text(spec['user']),
    uid: text(spec['uid']),
    groups: groupsOf(spec),
    extra: (spec['extra'] ?? {}) as UserInfo['extra'],
  };
}

function attributeErrors(spec: Json): readonly FieldError[] {
  const resource = spec['resourceAttributes'];
  const path = spec['nonResourceAttributes'];
  if (resource !== undefined && path !== undefined) {
    return [
      invalid(
        'spec.nonResourceAttributes',
        path,
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  }
  if (resource !== undefined || path !== undefined) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('spec.resourceAttributes', 'null', why)];
}

function subjectErrors(spec: Json): readonly FieldError[] {
  if (text(spec['user']) !== '' || groupsOf(spec).length > 0) return [];
  return [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

function placeErrors(spec: Json, namespace: string): readonly FieldError[] {
  const given = optionalRecord(spec['resourceAttributes']);
  if (given === undefined) {
    const why = 'disallowed on this kind of request';
    return spec['nonResourceAttributes'] === undefined
      ? []
      : [invalid('spec.nonResourceAttributes', spec['nonResourceAttributes'], why)];
  }
  if (text(given['namespace']) === namespace) return [];
  return [
    invalid('spec.resourceAttributes.namespace', text(given['namespace']), 'must match metadata.namespace'),
  ];
}

/** A question has no identity. Only its owners (managedFields) come with it. */
function metadataErrors({ metadata }: ApiObject): readonly FieldError[] {
  const { managedFields: _tracked, creationTimestamp: _unset, ...rest } = metadata;
  const given = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== '' && !isEmpty(value)),
  );
  return deepEqual(given, {}) ? [] : [invalid('metadata', metadata, 'must be empty')];
}

function withoutNamespace(object: ApiObject): ApiObject {
  const { namespace: _place, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (Object.keys(stringMap(value)).length === 0 && typeof value === 'object')
  );
}

/** These errors name no kind, as the API has always told them. */
function refuse({ endpoint }: OperationRequest, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: endpoint.row.group, kind: '' }, '', errors);
}
