import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AuditedServer } from '../../../testing/audit/audited-server';
import { startAuditedServer } from '../../../testing/audit/audited-server';

interface Review {
  readonly spec: { readonly user: string };
}

/** Bob may do everything, and of everybody but Dan it is left to others. */
const service = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const review = JSON.parse(text) as Review;
    const { user } = review.spec;
    const status = { allowed: user === 'bob', denied: user === 'dan', reason: 'the service says' };
    response.end(JSON.stringify({ ...review, status }));
  });
});

let server: AuditedServer;
let dir = '';

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'authz-webhook-'));
  service.listen({ host: '127.0.0.1', port: 0 });
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  };
  writeFileSync(path.join(dir, 'config'), JSON.stringify(config));
  server = await startAuditedServer({
    policy: { rules: [{ level: 'None' }] },
    flags: [
      '--authorization-mode=Webhook,AlwaysDeny',
      `--authorization-webhook-config-file=${path.join(dir, 'config')}`,
    ],
  });
});
afterAll(async () => {
  await server.stop();
  service.closeAllConnections();
  if (service.listening) await new Promise((resolve) => service.close(resolve));
  rmSync(dir, { recursive: true });
});

async function listAs(user: string): Promise<readonly [code: number, text: string]> {
  const { code, text } = await server.call('GET', '/api/v1/pods', { headers: { 'Impersonate-User': user } });
  return [code, text];
}

test('a remote service decides, and who is not known to it is left to the next', async () => {
  expect(await listAs('bob')).toEqual([200, expect.stringContaining('PodList')]);
  expect(await listAs('dan')).toEqual([403, expect.stringMatching(/cluster scope: the service says"/u)]);
  expect(await listAs('eve')).toEqual([
    403,
    expect.stringMatching(/cluster scope: the service says\\nEverything is forbidden\."/u),
  ]);
});

test('while the service is gone, what it allowed a moment ago stands, and the rest fails', async () => {
  await listAs('bob');
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  expect((await listAs('bob'))[0]).toBe(200);
  expect(await listAs('zoe')).toEqual([500, expect.stringContaining('webhook call failed')]);
});
