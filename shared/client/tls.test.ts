import { issueCertificate, makeCa } from '../certs/certificate';
import { createClient } from './client';
import type { FakeApiServer } from './testing/fake-api-server';
import { createFakeApiServer } from './testing/fake-api-server';
import { NODES } from './testing/fake-resources';

const validDays = 1;
const ca = makeCa({ commonName: 'test', validDays });
const user = issueCertificate(ca, { commonName: 'user', usages: ['client'], validDays });
const credentials = { cert: user.certificatePem, key: user.privateKeyPem };

let server: FakeApiServer;

beforeAll(async () => {
  const { certificatePem: cert, privateKeyPem: key } = issueCertificate(ca, {
    commonName: 'api.example',
    hosts: ['api.example'],
    usages: ['server'],
    validDays,
  });
  server = await createFakeApiServer({ tls: { cert, key, ca: ca.certificatePem } });
});
afterAll(async () => server.close());

test('a client certificate opens the listener of a server whose certificate matches the requested name', async () => {
  const client = createClient({
    ...credentials,
    server: server.url,
    ca: ca.certificatePem,
    tlsServerName: 'api.example',
  });
  expect(await client.list(NODES)).toMatchObject({ kind: 'NodeList', items: [] });
  client.close();
});

test('a failed handshake is reported, and a write that it stopped has a known outcome', async () => {
  const wrongName = createClient({ ...credentials, server: server.url, ca: ca.certificatePem });
  await expect(wrongName.create(NODES, { metadata: { name: 'n' } })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    outcomeUnknown: false,
  });
  const noTrust = createClient({ ...credentials, server: server.url, tlsServerName: 'api.example' });
  await expect(noTrust.list(NODES)).rejects.toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('self-signed certificate') as string,
  });
});
