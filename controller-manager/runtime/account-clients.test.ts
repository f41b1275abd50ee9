import { createClient } from '../../shared/client/client';
import type { FakeApiServer } from '../../shared/client/testing/fake-api-server';
import { createFakeApiServer } from '../../shared/client/testing/fake-api-server';
import { NAMESPACES } from '../../shared/client/testing/fake-resources';
import type { Client } from '../../shared/client/client';
import { NAMESPACE } from '../../shared/names';
import { createAccountClients } from './account-clients';

let server: FakeApiServer;
beforeEach(async () => {
  server = await createFakeApiServer();
});
afterEach(async () => server.close());

test('a controller uses a token of its own account, which others may share, and no credential of the process', async () => {
  const files = { certFile: '/nowhere.crt', keyFile: '/nowhere.key' };
  const clientOptions = { server: server.url, token: 'of the process', cert: 'C', key: 'K', ...files };
  const asked: string[] = [];
  const client: Client = {
    ...createClient({ server: server.url }),
    createSubresource: async (_resource, { namespace, name, subresource }) => {
      asked.push(`${namespace ?? ''}/${name}/${subresource}`);
      return Promise.resolve({ metadata: {}, status: { token: `of ${name}` } } as never);
    },
  };
  const accounts = createAccountClients({ client, clientOptions });
  const own = accounts.clientOf('x-controller');
  await own.list(NAMESPACES);
  expect(asked).toEqual([`${NAMESPACE.system}/x-controller/token`]);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer of x-controller']);
  expect(accounts.clientOf('x-controller')).toBe(own);
  accounts.close();
});
