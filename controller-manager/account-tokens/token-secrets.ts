import { RESOURCE } from '../../shared/api/resource-names';
import type { Secret, ServiceAccount } from '../../shared/api/types/core-v1';
import type { Sent } from '../../shared/object/object';
import { accountUserName } from '../../shared/meta/account-user-name';
import { ACCOUNT_TOKEN, ANNOTATION, SECRET_TYPE } from '../../shared/names';
import { signToken } from '../../shared/tokens/json-web-token';
import type { SigningKey } from '../../shared/tokens/token-key';

/** Selects the Secrets that hold service account tokens. */
export const TOKEN_SECRETS = {
  resource: RESOURCE.secrets,
  fieldSelector: `type=${SECRET_TYPE.serviceAccountToken}`,
} as const;

/** The contents of a token Secret. */
export interface TokenParts {
  readonly key: SigningKey;
  /** PEM text; absent if the CA of the API server is unknown. */
  readonly rootCa?: string | undefined;
}

/** Returns the account of a token Secret as `<namespace>/<name>`. */
export function accountKeyOf({ metadata }: Secret): string {
  return `${metadata.namespace ?? ''}/${metadata.annotations?.[ANNOTATION.serviceAccountName] ?? ''}`;
}

/** Reports whether the Secret names this account; a Secret without a uid names any account of that name. */
export function isOf(secret: Secret, { metadata }: ServiceAccount): boolean {
  const { [ANNOTATION.serviceAccountUid]: uid = '' } = secret.metadata.annotations ?? {};
  return uid === '' || uid === metadata.uid;
}

/** Creates a filled token Secret of this name for the account. */
export async function newTokenSecret(
  account: ServiceAccount,
  name: string,
  parts: TokenParts,
): Promise<Sent<Secret>> {
  const { namespace = '' } = account.metadata;
  const bare = { metadata: { namespace, name }, type: SECRET_TYPE.serviceAccountToken };
  return (await filled(bare, account, parts)) ?? bare;
}

/**
 * Returns the Secret with its missing data, or undefined if it is complete. An outdated certificate is replaced, an existing token is
 * kept.
 */
export async function filled(
  secret: Sent<Secret>,
  account: ServiceAccount,
  { key, rootCa }: TokenParts,
): Promise<Sent<Secret> | undefined> {
  const { namespace = '', name: accountName = '', uid: accountUid = '' } = account.metadata;
  const { annotations = {}, name: secretName = '' } = secret.metadata;
  const { [CA]: ca = '', [NAMESPACE]: place = '', [TOKEN]: token = '' } = secret.data ?? {};
  const wanted = {
    [CA]: rootCa === undefined ? ca : base64(rootCa),
    [NAMESPACE]: place === '' ? base64(namespace) : place,
  };
  const { [ANNOTATION.serviceAccountUid]: uid } = annotations;
  const isComplete = token !== '' && ca === wanted[CA] && place !== '' && uid === accountUid;
  if (isComplete) return undefined;
  const claims = {
    iss: ACCOUNT_TOKEN.legacyIssuer,
    sub: accountUserName(namespace, accountName),
    [ACCOUNT_TOKEN.legacyNamespace]: namespace,
    [ACCOUNT_TOKEN.legacySecretName]: secretName,
    [ACCOUNT_TOKEN.legacyAccountName]: accountName,
    [ACCOUNT_TOKEN.legacyAccountUid]: accountUid,
  };
  const { [CA]: wantedCa, ...rest } = wanted;
  return {
    ...secret,
    metadata: {
      ...secret.metadata,
      annotations: {
        ...annotations,
        [ANNOTATION.serviceAccountName]: accountName,
        [ANNOTATION.serviceAccountUid]: accountUid,
      },
    },
    data: {
      ...secret.data,
      ...rest,
      ...(wantedCa === '' ? {} : { [CA]: wantedCa }),
      [TOKEN]: token === '' ? base64(await signToken(key, claims)) : token,
    },
  };
}

const CA = 'ca.crt';
const NAMESPACE = 'namespace';
const TOKEN = 'token';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
