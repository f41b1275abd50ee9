import type { UserInfo } from './exchange';

/** A question about what a user may do, as authorizers are asked. For a path that is no resource, `verb` is the lower-cased method. */
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

/** `no-opinion` leaves the decision to the next authorizer; the request is refused when none allows it. */
export interface AccessVerdict {
  readonly decision: 'allow' | 'deny' | 'no-opinion';
  /** Shown to the client behind a refusal; empty when there is nothing to say. */
  readonly reason: string;
  /** Why an authorizer could not say; absent where each of them could. Where nobody else allows it, the request fails by it. */
  readonly error?: string;
}

export type Authorizer = (question: AccessQuestion, signal: AbortSignal) => Promise<AccessVerdict>;

/** What a user may do, as far as the authorizers can list it. */
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
  /** Some authorizer cannot list its rules: the user may be allowed more. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

/** Lists what a user may do in a namespace, and on paths that are no resources. */
export type RuleLister = (user: UserInfo, namespace: string, signal: AbortSignal) => Promise<AccessRules>;

/** Who may do what. */
export interface AccessControl {
  readonly authorize: Authorizer;
  readonly rulesOf: RuleLister;
}
