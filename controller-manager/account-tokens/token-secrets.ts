import { RESOURCE } from '../../shared/api/resource-names';
import type { Secret, ServiceAccount } from '../../shared/api/types/core-v1';
import type { Sent } from '../../shared/object/object';
import { accountUserName } from '../../shared/meta/account-user-name';
import { ACCOUNT_TOKEN, ANNOTATION, SECRET_TYPE } from '../../shared/names';
import { signToken } from '../../shared/tokens/json-web-token';
import type { SigningKey } from '../../shared/tokens/token-key';

/** Which Secrets hold the tokens of service accounts. */
export const TOKEN_SECRETS = {
  resource: RESOURCE.secrets,
  fieldSelector: `type=${SECRET_TYPE.serviceAccountToken}`,
} as const;

/** With what Secrets are filled. */
export interface TokenParts {
  readonly key: SigningKey;
  /** PEM text; absent where nobody knows the certificates of the API server. */
  readonly rootCa?: string | undefined;
}

/** The account that a Secret is for, as `<namespace>/<name>`. */
export function accountKeyOf({ metadata }: Secret): string {
  return `${metadata.namespace ?? ''}/${metadata.annotations?.[ANNOTATION.serviceAccountName] ?? ''}`;
}

/** Whether the Secret is for this very account, or for whichever has the name. */
export function isOf(secret: Secret, { metadata }: ServiceAccount): boolean {
  const { [ANNOTATION.serviceAccountUid]: uid = '' } = secret.metadata.annotations ?? {};
  return uid === '' || uid === metadata.uid;
}

/** A Secret of this name for the account, filled. */
export async function newTokenSecret(
  account: ServiceAccount,
  name: string,
  parts: TokenParts,
): Promise<Sent<Secret>> {
  const { namespace = '' } = account.metadata;
  const bare = { metadata: { namespace, name }, type: SECRET_TYPE.serviceAccountToken };
  return (await filled(bare, account, parts)) ?? bare;
}

/** The Secret with what it lacks; undefined where it has all. Certificates that are not those of now are replaced, tokens are not. */
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
