import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PATIENCE_MS } from '../testing/eventually';
import { createTransport } from './transport';

const timeoutMs = PATIENCE_MS;
const get = { method: 'GET', headers: {} } as const;

test('closing ends idle connections at once, and one in use once its answer is there', async () => {
  const held: ServerResponse[] = [];
  const sockets: Socket[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('ok');
  });
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = createTransport({ server: `http://127.0.0.1:${String(port)}` });
  try {
    const arrived = once(server, 'request');
    const late = transport.send({ ...get, path: '/held' }, { timeoutMs });
    await arrived;
    await transport.send({ ...get, path: '/' }, { timeoutMs });
    expect(sockets).toHaveLength(2);
    const [inUse, idle] = sockets.map(async (socket) => once(socket, 'close'));
    transport.close();
    await idle;
    held[0]?.end('late');
    expect((await late).body.toString()).toBe('late');
    await inUse;
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
