import { RESOURCE } from '../../shared/api/resource-names';
import type { Secret } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { NAMESPACE, SECRET_TYPE } from '../../shared/names';

/** Which Secrets hold bootstrap tokens: the only ones that controllers of tokens need to see. */
export const TOKEN_SECRETS = {
  resource: RESOURCE.secrets,
  namespace: NAMESPACE.system,
  fieldSelector: `type=${SECRET_TYPE.bootstrapToken}`,
} as const;

/** A bootstrap token: `<id>.<secret>`. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

const NAME = /^bootstrap-token-([a-z0-9]{6})$/;

/** The token that signs what new nodes have to know; undefined where the Secret is not for that, or is not as it must be. */
export function signingToken(object: Secret): BootstrapToken | undefined {
  const [, id] = NAME.exec(object.metadata.name ?? '') ?? [];
  const secret = valueOf(object, 'token-secret');
  if (id === undefined || valueOf(object, 'token-id') !== id || secret === '') return undefined;
  return valueOf(object, 'usage-bootstrap-signing') === 'true' ? { id, secret } : undefined;
}

/** When the token ends, in milliseconds since the epoch; infinite where it does not. What cannot be read has ended. */
export function expirationOf(object: Secret): number {
  const expiration = valueOf(object, 'expiration');
  return expiration === '' ? Infinity : (parseTime(expiration) ?? -Infinity);
}

function valueOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}
