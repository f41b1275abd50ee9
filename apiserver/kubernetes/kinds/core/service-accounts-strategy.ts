import type { ServiceAccount } from '../../../../shared/api/types/core-v1';
import type { Strategy } from '../../../engine/registry/strategy';

/** Of the secrets that an account names, the names alone are kept. */
export const serviceAccounts: Strategy<ServiceAccount> = {
  returnsDeletedObject: true,
  prepareForCreate: withSecretNames,
  prepareForUpdate: withSecretNames,
};

function withSecretNames(account: ServiceAccount): ServiceAccount {
  const { secrets = [] } = account;
  if (secrets.every(isNameAlone)) return account;
  return { ...account, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}

function isNameAlone(secret: object): boolean {
  return Object.keys(secret).every((key) => key === 'name');
}
