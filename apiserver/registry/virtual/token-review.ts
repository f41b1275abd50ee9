import { badRequest } from '../../../shared/errors/status-error';
import { record, strings, text } from '../validation/accessors';
import type { Operation, OperationServices } from './operation';

/** Says whose token it is. A token that nobody knows is an answer, not a failure. */
export const reviewToken: Operation = async ({ services }, { object, namespace }, signal) => {
  const spec = record(object['spec']);
  const token = text(spec['token']);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  if (namespace !== '' || (object.metadata.namespace ?? '') !== '') {
    throw badRequest(`namespace is not allowed on this type: ${object.metadata.namespace ?? namespace}`);
  }
  return {
    ...object,
    status: await statusOf(services, { token, audiences: strings(spec['audiences']) }, signal),
  };
};

/** Tokens of this server name no audience: they are good for those of the API, and for no other. */
async function statusOf(
  services: OperationServices,
  { token, audiences }: { readonly token: string; readonly audiences: readonly string[] },
  signal: AbortSignal,
): Promise<object> {
  const { apiAudiences } = services;
  const shared =
    audiences.length === 0 ? apiAudiences : apiAudiences.filter((each) => audiences.includes(each));
  const isMeant = audiences.length === 0 || shared.length > 0;
  const user = isMeant ? await services.userOfToken(token, signal) : undefined;
  if (user === undefined) return { user: {}, error: 'invalid bearer token' };
  return {
    authenticated: true,
    user: {
      username: user.name,
      ...(user.uid === '' ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
    ...(shared.length === 0 ? {} : { audiences: shared }),
  };
}
