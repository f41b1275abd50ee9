import { isInForce } from '../../../../shared/api/changes';
import type { ServiceAccount } from '../../../../shared/api/types/core-v1';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { requestToken } from './token-request';

/** Of the secrets that an account names, the names alone are kept. */
const serviceAccountStrategy: Strategy<ServiceAccount> = {
  compat: { returnsDeletedObject: true },
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

const serviceAccountTable = tableOf<ServiceAccount>([
  NAME,
  ...(isInForce('secretsColumn')
    ? [{ name: 'Secrets', cell: ({ secrets = [] }: ServiceAccount) => secrets.length }]
    : []),
  AGE,
]);

export const serviceAccounts: Kind<ServiceAccount> = {
  strategy: serviceAccountStrategy,
  table: serviceAccountTable,
  subresources: { token: { is: 'operation', run: requestToken } },
};
