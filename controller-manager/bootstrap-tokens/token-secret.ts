import { RESOURCE } from '../../shared/api/resource-names';
import type { Secret } from '../../shared/api/types/core-v1';
import { parseTime } from '../../shared/meta/time';
import { NAMESPACE, SECRET_TYPE } from '../../shared/names';

/** Selects bootstrap token Secrets, the only Secrets that the token controllers read. */
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

/** Returns the token if the Secret is a valid bootstrap token for signing, else undefined. */
export function signingToken(object: Secret): BootstrapToken | undefined {
  const [, id] = NAME.exec(object.metadata.name ?? '') ?? [];
  const secret = valueOf(object, 'token-secret');
  if (id === undefined || valueOf(object, 'token-id') !== id || secret === '') return undefined;
  return valueOf(object, 'usage-bootstrap-signing') === 'true' ? { id, secret } : undefined;
}

/** Returns the expiration in milliseconds since the epoch, Infinity without one. An unreadable expiration counts as expired. */
export function expirationOf(object: Secret): number {
  const expiration = valueOf(object, 'expiration');
  return expiration === '' ? Infinity : (parseTime(expiration) ?? -Infinity);
}

function valueOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}
