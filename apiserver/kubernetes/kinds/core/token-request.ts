import type {
  BoundObjectReference,
  TokenRequest,
  TokenRequestSpec,
} from '../../../../shared/api/types/authentication-v1';
import type { Pod, Secret, ServiceAccount } from '../../../../shared/api/types/core-v1';
import type { StoredKinds } from '../../../../shared/api/types/message-types';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, invalidObject } from '../../../../shared/errors/field-error';
import { badRequest, conflict, notFound } from '../../../../shared/errors/status-error';
import { accountUserName } from '../../../../shared/meta/account-user-name';
import { ACCOUNT_TOKEN, GROUP } from '../../../../shared/names';
import { integer } from '../../../../shared/object/accessors';
import type { ObjectMeta } from '../../../../shared/object/object';
import { readFresh } from '../../../engine/registry/current';
import { timestamp } from '../../../engine/registry/metadata';
import type {
  AccountTokens,
  Operation,
  OperationContext,
  OperationRequest,
} from '../../../engine/registry/operation';
import { relativeKey } from '../../../engine/registry/resource';

const TOKEN_REQUEST = { group: GROUP.authentication, kind: 'TokenRequest' } as const;
const EXPIRATION_SECONDS_MIN = 600;
const EXPIRATION_SECONDS_MAX = 2 ** 32;

/** The expiration that the token volume added by admission requests; the number identifies such requests. */
const VOLUME_EXPIRATION_SECONDS = 3_607;
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 60 * 60;
const SECOND_MS = 1_000;

/** `serviceaccounts/token`: a signed token of the account, for the requested audiences and lifetime. */
export const requestToken: Operation = async (context, request, signal) => {
  const { accountTokens, apiAudiences } = context.services;
  const { metadata, spec } = request.object as TokenRequest;
  refuseOtherPlace(metadata, request);
  const errors = expirationErrors(spec.expirationSeconds);
  if (errors.length > 0) throw invalidObject(TOKEN_REQUEST, '', errors);
  const asked = Number(spec.expirationSeconds);
  const account = await found(context, { request, resource: 'serviceaccounts', name: request.name }, signal);
  const { uid = '' } = metadata;
  if (uid !== '' && uid !== account.metadata.uid) {
    const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid ?? ''})`;
    throw conflict({ group: GROUP.authentication, resource: 'TokenRequest' }, request.name, why);
  }
  const { boundObjectRef: reference } = spec;
  const binding = reference === null ? undefined : await bindingOf(context, { request, reference }, signal);
  const audiences = audiencesOf(spec, apiAudiences);
  const expirationSeconds = Math.min(asked, accountTokens.maxExpirationSeconds ?? asked);
  const isExtended = isOfTokenVolume(accountTokens, { binding, expirationSeconds, audiences, apiAudiences });
  const nowSeconds = Math.floor(context.store.clock.now() / SECOND_MS);
  const token = await accountTokens.sign(
    claimsOf({
      issuer: accountTokens.issuer,
      account,
      binding,
      audiences,
      nowSeconds,
      expirationSeconds: isExtended ? EXTENDED_EXPIRATION_SECONDS : expirationSeconds,
      warnAfterSeconds: isExtended ? expirationSeconds : undefined,
    }),
  );
  return {
    ...request.object,
    spec: { ...spec, audiences, expirationSeconds },
    status: { token, expirationTimestamp: timestamp((nowSeconds + expirationSeconds) * SECOND_MS) },
  };
};

/** Refuses a name or namespace other than those of the path: a mutating webhook may have set them. Source: TokenREST.Create, v1.36. */
function refuseOtherPlace(metadata: ObjectMeta, { name, namespace }: OperationRequest): void {
  for (const [field, wanted] of Object.entries({ name, namespace })) {
    const given = metadata[field as 'name' | 'namespace'] ?? '';
    if (given === '' || given === wanted) continue;
    const why = `must match the service account ${field} if specified`;
    throw invalidObject(TOKEN_REQUEST, name, [invalid(`metadata.${field}`, given, why)]);
  }
}

function expirationErrors(value: unknown): readonly FieldError[] {
  const seconds = integer(value) ?? 0;
  const field = 'spec.expirationSeconds';
  if (seconds < EXPIRATION_SECONDS_MIN) {
    return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  }
  return seconds > EXPIRATION_SECONDS_MAX
    ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

function audiencesOf({ audiences }: TokenRequestSpec, apiAudiences: readonly string[]): readonly string[] {
  const asked = audiences ?? [];
  return asked.length === 0 ? apiAudiences : asked;
}

/** A token in a pod's volume for this API alone: its client may be one that reads it once and never again. */
function isOfTokenVolume(
  { extendsExpiration }: AccountTokens,
  asked: {
    readonly binding: TokenBinding | undefined;
    readonly expirationSeconds: number;
    readonly audiences: readonly string[];
    readonly apiAudiences: readonly string[];
  },
): boolean {
  return (
    extendsExpiration &&
    asked.binding?.kind === 'pod' &&
    asked.expirationSeconds === VOLUME_EXPIRATION_SECONDS &&
    asked.audiences.every((each) => asked.apiAudiences.includes(each))
  );
}

/** Throws BadRequest for a kind that nothing can be bound to or another account's pod, NotFound, and Conflict for another uid. */
async function bindingOf(
  context: OperationContext,
  { request, reference }: { readonly request: OperationRequest; readonly reference: BoundObjectReference },
  signal: AbortSignal,
): Promise<TokenBinding> {
  const { kind = '', name = '', uid = '' } = reference;
  const binding = bindableTo(reference);
  if (binding === undefined) {
    throw badRequest(`cannot bind token to object of type ${typeOf(reference)}`);
  }
  if (name === '') throw badRequest('Name parameter required.');
  const object =
    binding === 'pod'
      ? await podOfAccount(context, { request, name }, signal)
      : await found(context, { request, resource: 'secrets', name }, signal);
  if (uid !== '' && uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: GROUP.core, resource: kind }, name, why);
  }
  return { kind: binding, object };
}

async function podOfAccount(
  context: OperationContext,
  { request, name }: { readonly request: OperationRequest; readonly name: string },
  signal: AbortSignal,
): Promise<Pod> {
  const pod = await found(context, { request, resource: 'pods', name }, signal);
  if (pod.spec.serviceAccountName === request.name) return pod;
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(request.name)} to pod running with different serviceaccount name.`,
  );
}

function bindableTo({ apiVersion = '', kind }: BoundObjectReference): TokenBinding['kind'] | undefined {
  if (apiVersion.includes('/')) return undefined;
  if (kind === 'Pod') return 'pod';
  return kind === 'Secret' ? 'secret' : undefined;
}

/** As Go writes a kind with its group and version. */
function typeOf({ apiVersion = '', kind = '' }: BoundObjectReference): string {
  const parts = apiVersion.split('/');
  const known = parts.length > 2 ? '/' : parts.length === 2 ? apiVersion : `/${apiVersion}`;
  return `${known}, Kind=${kind}`;
}

type Core = StoredKinds['core'];

/** An object of the request's namespace, as fresh as a read index taken now. Throws NotFound. */
async function found<Resource extends keyof Core>(
  { store, registry }: OperationContext,
  wanted: { readonly request: OperationRequest; readonly resource: Resource; readonly name: string },
  signal: AbortSignal,
): Promise<Core[Resource]> {
  const { request, resource, name } = wanted;
  const endpoint = registry().endpoint(GROUP.core, 'v1', resource);
  const key = endpoint && relativeKey(endpoint.stored, request.namespace, name);
  const current =
    endpoint === undefined || key === undefined
      ? undefined
      : await readFresh({ ...store, bounds: request.bounds }, endpoint, key, signal);
  if (current === undefined) throw notFound({ group: GROUP.core, resource }, name);
  return current.object as Core[Resource];
}

/** What a token is bound to besides its account: it dies with that. */
interface TokenBinding {
  readonly kind: 'pod' | 'secret';
  readonly object: Pod | Secret;
}

interface TokenContent {
  readonly issuer: string;
  readonly account: ServiceAccount;
  readonly binding: TokenBinding | undefined;
  readonly audiences: readonly string[];
  readonly nowSeconds: number;
  readonly expirationSeconds: number;
  /** After this time a use of the token is counted as one that should not happen; undefined: never. */
  readonly warnAfterSeconds: number | undefined;
}

/** The claims of a token of a service account, in the shape every reader of such tokens knows. Times are seconds since the epoch. */
function claimsOf(content: TokenContent): Readonly<Record<string, unknown>> {
  const { issuer, account, binding, audiences, nowSeconds, expirationSeconds, warnAfterSeconds } = content;
  const { name = '', namespace = '' } = account.metadata;
  return {
    aud: audiences,
    exp: nowSeconds + expirationSeconds,
    iat: nowSeconds,
    iss: issuer,
    [ACCOUNT_TOKEN.claim]: {
      namespace,
      serviceaccount: referenceTo(account),
      ...(binding === undefined ? {} : { [binding.kind]: referenceTo(binding.object) }),
      ...(warnAfterSeconds === undefined ? {} : { warnafter: nowSeconds + warnAfterSeconds }),
    },
    nbf: nowSeconds,
    sub: accountUserName(namespace, name),
  };
}

function referenceTo({ metadata }: Pod | Secret | ServiceAccount): object {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}
