import type { DefaultsTable } from './contract';

export const AUTHENTICATION: DefaultsTable = {
  'authentication/v1.TokenRequestSpec': { values: { expirationSeconds: 3600 } },
};
