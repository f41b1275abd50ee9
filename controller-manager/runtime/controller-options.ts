import type { SigningAuthority } from '../../shared/certs/sign-certificate-request';
import type { SigningKey } from '../../shared/tokens/token-key';

/** What the command line decides about controllers. */
export interface ControllerOptions {
  readonly concurrentNamespaceSyncs: number;
  /** How often every terminating namespace is looked at again without cause, in milliseconds. */
  readonly namespaceSyncPeriodMs: number;
  readonly concurrentGcSyncs: number;
  /** How many quotas are calculated at once; 5 if not given. */
  readonly concurrentResourceQuotaSyncs?: number;
  /** How often every quota is calculated anew without cause, in milliseconds; 5 minutes if not given. */
  readonly resourceQuotaSyncPeriodMs?: number;
  /** How many service accounts and Secrets are worked on at once; 5 if not given. */
  readonly concurrentServiceaccountTokenSyncs?: number;
  /** The certificates by which pods know the API server, as PEM text; absent where nobody says. */
  readonly rootCa?: string;
  /** With what the tokens in Secrets are signed; absent where nobody says. */
  readonly tokenKey?: SigningKey;
  /** With what certificate requests are signed; absent where nobody says. */
  readonly signing?: Signing;
}

/** With what certificate requests are signed. */
export interface Signing {
  /** Undefined for a signer that has none, or that is not of the project. */
  readonly authorityOf: (signerName: string) => AuthorityFiles | undefined;
  readonly lifetimeMs: number;
}

/** An authority as its two files hold it. */
export interface AuthorityFiles {
  /** As the files say now; files that cannot be used leave what they said before. */
  readonly current: () => Promise<SigningAuthority>;
}
