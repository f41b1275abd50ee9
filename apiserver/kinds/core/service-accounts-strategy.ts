import type { ServiceAccount } from '../../../shared/api/types/core-v1';
import type { Strategy } from '../../registry/strategy';

/** An account knows its secrets by name alone, whatever else a client says of them. */
export const serviceAccounts: Strategy<ServiceAccount> = {
  returnsDeletedObject: true,
  prepareForCreate: withNamedSecrets,
  prepareForUpdate: withNamedSecrets,
};

function withNamedSecrets(account: ServiceAccount): ServiceAccount {
  const { secrets } = account;
  if (secrets === undefined) return account;
  return { ...account, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}
