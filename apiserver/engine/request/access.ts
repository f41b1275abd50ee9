import type { UserInfo } from './exchange';

/** The attributes of an authorization check. For a path that is no resource, `verb` is the lower-cased method. */
export interface AccessQuestion {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

/**
 * The decision of an authorizer. `no-opinion` leaves it to the next authorizer; the request is denied if none allows
 * it.
 */
export interface AccessResult {
  readonly decision: 'allow' | 'deny' | 'no-opinion';
  /** Appended to the 403 message; empty if there is none. */
  readonly reason: string;
  /** Why an authorizer failed; absent if none did. If no other authorizer allows the request, it fails with a 500. */
  readonly error?: string;
}

export type Authorizer = (question: AccessQuestion, signal: AbortSignal) => Promise<AccessResult>;

/** The permissions of a user, as far as the authorizers can list them. */
export interface AccessRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
  /** An authorizer cannot list its rules: the user may have more permissions. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

/** Lists the permissions of a user in a namespace, and on non-resource paths. */
export type RuleLister = (user: UserInfo, namespace: string, signal: AbortSignal) => Promise<AccessRules>;

export interface AccessControl {
  readonly authorize: Authorizer;
  readonly rulesOf: RuleLister;
}
