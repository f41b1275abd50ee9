import type { ApiObject } from '../../../shared/object/object';
import type { AccessControl } from '../request/access';
import type { UserInfo } from '../request/exchange';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';
import type { Registry } from './registry';

/** A component of the control plane with a health check. */
export interface Component {
  readonly name: string;
  /** Resolves if it is healthy; rejects with the reason otherwise. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** A bearer token, and the audiences of which it must have one. */
export interface TokenQuestion {
  readonly token: string;
  /** Never empty. */
  readonly audiences: readonly string[];
}

/** The user of a token and the accepted audiences, or why the token is not valid for the requested ones. */
export type TokenReviewResult =
  /** `audiences` is empty only if a webhook reports none: then the token is valid for this API. */
  | { readonly isKnown: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  /** `why` is empty if a webhook gives no reason. */
  | { readonly isKnown: false; readonly why: string };

export interface AccountTokens {
  /** Signs a token; the claims have the issuer already. */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly issuer: string;
  /** The maximum lifetime of a token; undefined: no maximum. */
  readonly maxExpirationSeconds: number | undefined;
  /** Tokens of pods whose clients may not reload them are valid for a year. */
  readonly extendsExpiration: boolean;
}

/**
 * The services of the layers above the registry that operations use: authentication, authorization, health.
 */
export interface OperationServices extends AccessControl {
  readonly reviewToken: (question: TokenQuestion, signal: AbortSignal) => Promise<TokenReviewResult>;
  /** The audiences of this API: the default audiences of tokens. Never empty. */
  readonly apiAudiences: readonly string[];
  readonly accountTokens: AccountTokens;
  readonly components: readonly Component[];
}

export interface OperationContext {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly services: OperationServices;
}

/**
 * A creation that requests an operation. `object` is decoded, has the namespace of the path, and was mutated
 * by admission.
 */
export interface OperationRequest<T extends ApiObject = ApiObject> extends WriteRequest {
  readonly object: T;
}

/** Returns an object of the kind of the operation, or `undefined` for a Status of success. */
export type Operation<T extends ApiObject = ApiObject> = (
  context: OperationContext,
  request: OperationRequest<T>,
  signal: AbortSignal,
) => Promise<ApiObject | undefined>;

/**
 * Erases the kind of an operation: the registry calls it only with objects that were decoded as that kind.
 */
export function operationOn<T extends ApiObject>(operation: Operation<T>): Operation {
  return operation as unknown as Operation;
}

/** A resource whose objects are not stored. */
export interface VirtualResource {
  readonly create?: Operation;
  /**
   * False for reviews, which change nothing and may be about places that do not exist. Default: admission
   * sees the object.
   */
  readonly isAdmitted?: boolean;
  /** Computes the current objects; also serves a GET by name. */
  readonly list?: (context: OperationContext, signal: AbortSignal) => Promise<readonly ApiObject[]>;
}
