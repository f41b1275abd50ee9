import type { ApiObject } from '../../../shared/object/object';
import type { AccessControl } from '../request/access';
import type { UserInfo } from '../request/exchange';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import type { Registry } from './registry';

/** A part of the control plane whose health can be asked. */
export interface Component {
  readonly name: string;
  /** Resolves when it is well; rejects with what is wrong. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** A bearer token, and those one of whom it has to be meant for. */
export interface TokenQuestion {
  readonly token: string;
  /** Never empty. */
  readonly audiences: readonly string[];
}

/** Whose token it is, and for which of the audiences asked about it is good; or why it is nobody's, for whoever asked. */
export type TokenVerdict =
  | { readonly isKnown: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly isKnown: false; readonly why: string };

/** How this server issues tokens of service accounts. */
export interface AccountTokens {
  /** Signs a token; the issuer stands in its claims already. */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly issuer: string;
  /** The longest time a token is good for; undefined: as long as the request asks for. */
  readonly maxExpirationSeconds: number | undefined;
  /** Tokens of pods whose clients may not know that tokens end are good for a year. */
  readonly extendsExpiration: boolean;
}

/** What operations need of the layers above the registry: who is who, who may do what, who is well. */
export interface OperationServices extends AccessControl {
  readonly reviewToken: (question: TokenQuestion, signal: AbortSignal) => Promise<TokenVerdict>;
  /** The audiences of this API: what tokens are meant for when nobody says otherwise. Never empty. */
  readonly apiAudiences: readonly string[];
  readonly accountTokens: AccountTokens;
  readonly components: readonly Component[];
}

export interface OperationContext {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly services: OperationServices;
}

/** A creation that asks for something to be done. `object` is decoded, in the namespace of the path, and went through mutating admission. */
export interface OperationRequest<T extends ApiObject = ApiObject> extends WriteRequest {
  readonly object: T;
}

/** What is answered: an object of the operation's kind, or `undefined` for a Status that tells success. */
export type Operation<T extends ApiObject = ApiObject> = (
  context: OperationContext,
  request: OperationRequest<T>,
  signal: AbortSignal,
) => Promise<ApiObject | undefined>;

/** An operation on one kind as the registry takes it, which knows no kinds: it gets only objects that were decoded as that kind. */
export function operationOn<T extends ApiObject>(operation: Operation<T>): Operation {
  return operation as unknown as Operation;
}

/** A resource whose objects are not stored. */
export interface VirtualResource {
  readonly create?: Operation;
  /** False for questions that change nothing and may be asked about places that do not exist. Default: admission sees the object. */
  readonly isAdmitted?: boolean;
  /** The objects as they are now; also answers a GET by name. */
  readonly list?: (context: OperationContext, signal: AbortSignal) => Promise<readonly ApiObject[]>;
}
