import type { SubjectAccessReviewStatus } from '../../../../shared/api/types/authorization-v1';
import { GROUP } from '../../../../shared/names';
import type { RemoteReviewOptions } from '../../remote/review-call';
import { createReviewCall } from '../../remote/review-call';
import type { AccessQuestion, AccessResult } from '../../request/access';
import { decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import type { Unchecked } from '../../../../shared/object/values';

/** Calls the authorization webhook. Rejects with an Error if there is no answer, or a malformed one. */
export type AccessReviewCall = (question: AccessQuestion, signal: AbortSignal) => Promise<AccessResult>;

/** Creates the call. Throws KubeconfigError for a file that cannot be used. */
export function createAccessReviewCall({ version, ...options }: RemoteReviewOptions): AccessReviewCall {
  const call = createReviewCall<SubjectAccessReviewStatus>({
    ...options,
    who: 'the authorization webhook',
    apiVersion: `${GROUP.authorization}/${version}`,
    kind: 'SubjectAccessReview',
  });
  // v1beta1 names the groups `group`.
  const groupsField = version === 'v1' ? 'groups' : 'group';
  return async (question, signal) => {
    const spec = specOf(question, groupsField);
    return resultOf(await call({ spec, status: { allowed: false } }, signal));
  };
}

function specOf(
  { user, isResourceRequest, verb, path, ...about }: AccessQuestion,
  groupsField: string,
): object {
  const { namespace, apiGroup: group, apiVersion: version, resource, subresource, name } = about;
  const attributes = isResourceRequest
    ? { resourceAttributes: omitEmpty({ namespace, verb, group, version, resource, subresource, name }) }
    : { nonResourceAttributes: omitEmpty({ path, verb }) };
  return {
    ...attributes,
    ...omitEmpty({ user: user.name, uid: user.uid }),
    ...(user.groups.length === 0 ? {} : { [groupsField]: user.groups }),
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  };
}

/** Omits empty fields. */
function omitEmpty(fields: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

const STATUS = messageType('authorization/v1.SubjectAccessReviewStatus');

/** `denied` takes precedence over `allowed`. Throws for a malformed status. */
function resultOf(answer: Unchecked<SubjectAccessReviewStatus>): AccessResult {
  const { allowed, denied = false, reason = '' } = decodeObject(STATUS, answer).object;
  if (denied) return { decision: 'deny', reason };
  return { decision: allowed ? 'allow' : 'no-opinion', reason };
}
