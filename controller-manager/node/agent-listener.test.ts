import { once } from 'node:events';
import tls from 'node:tls';
import { silentLog } from '../../shared/log/log';
import { openAgentListener } from './agent-listener';

test('a request whose target is no URL is answered with 400, and the next one is answered', async () => {
  const agent = await openAgentListener({
    bindAddress: '127.0.0.1',
    port: 0,
    hosts: ['localhost'],
    sources: () => undefined,
    log: silentLog,
  });
  const ask = async (target: string): Promise<string> => {
    const socket = tls.connect(agent.port, '127.0.0.1', { ca: agent.caPem, servername: 'localhost' });
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return head.toString().slice(0, 12);
  };
  expect(await ask('//')).toBe('HTTP/1.1 400');
  expect(await ask('/healthz')).toBe('HTTP/1.1 200');
  agent.close();
});
