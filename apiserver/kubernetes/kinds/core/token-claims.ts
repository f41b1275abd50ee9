import type { Pod, Secret, ServiceAccount } from '../../../../shared/api/types/core-v1';
import { accountUserName } from '../../../../shared/meta/account-user-name';
import { ACCOUNT_TOKEN } from '../../../../shared/names';

/** What a token is bound to besides its account: it dies with that. */
export interface TokenBinding {
  readonly kind: 'pod' | 'secret';
  readonly object: Pod | Secret;
}

export interface TokenContent {
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
export function claimsOf(content: TokenContent): Readonly<Record<string, unknown>> {
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
