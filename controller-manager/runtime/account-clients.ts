import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import type { ClientOptions } from '../../shared/client/options';
import { NAMESPACE } from '../../shared/names';
import { accountTokenSource } from './account-token';

export interface AccountClientParts {
  /** Creates the accounts and their tokens. */
  readonly client: Client;
  /** How it connects to the server. */
  readonly clientOptions: ClientOptions;
}

/** Clients that act as the service accounts of controllers. */
export interface AccountClients {
  readonly clientOf: (account: string) => Client;
  /** Closes all clients. */
  close(): void;
}

export function createAccountClients({ client, clientOptions }: AccountClientParts): AccountClients {
  // Credentials of the process would take precedence over the token.
  const { cert: _cert, key: _key, certFile: _certFile, keyFile: _keyFile, ...withToken } = clientOptions;
  const { token: _token, tokenFile: _file, exec: _exec, ...reach } = withToken;
  const clients = new Map<string, Client>();
  return {
    clientOf: (account) => {
      const known = clients.get(account);
      if (known !== undefined) return known;
      const tokenSource = accountTokenSource(client, { namespace: NAMESPACE.system, name: account });
      const own = createClient({ ...reach, tokenSource });
      clients.set(account, own);
      return own;
    },
    close: () => {
      for (const each of clients.values()) each.close();
    },
  };
}
