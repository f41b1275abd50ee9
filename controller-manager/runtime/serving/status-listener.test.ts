import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { createClient } from '../../../shared/client/client';
import { silentLog } from '../../../shared/log/log';
import { createMetrics } from './metrics';
import { openStatusListener } from './status-listener';

const HOST = '127.0.0.1';
const logged: string[] = [];
const parts = {
  client: createClient({ server: 'http://127.0.0.1:1' }),
  metrics: createMetrics({ process: false }),
  log: { ...silentLog, warn: (_fields: object, message: string) => void logged.push(message) },
};
const flags = {
  bindAddress: HOST,
  tlsCertFile: '',
  tlsPrivateKeyFile: '',
  authorizationAlwaysAllowPaths: ['/healthz'],
};

let other: Server;
let securePort: number;
beforeEach(async () => {
  logged.length = 0;
  other = createServer();
  other.listen(0, HOST);
  await once(other, 'listening');
  securePort = (other.address() as AddressInfo).port;
});
afterEach(() => other.close());

test('an explicit port that another process uses is an error', async () => {
  const opening = openStatusListener({ ...flags, securePort }, { ...parts, isPortGiven: true });
  await expect(opening).rejects.toThrow(`--secure-port ${String(securePort)} cannot be had`);
});

test('a default port that another process uses is skipped', async () => {
  expect(
    await openStatusListener({ ...flags, securePort }, { ...parts, isPortGiven: false }),
  ).toBeUndefined();
  expect(logged).toEqual(['neither /healthz nor /metrics is served']);
});

test('port 0 disables the listener', async () => {
  expect(
    await openStatusListener({ ...flags, securePort: 0 }, { ...parts, isPortGiven: true }),
  ).toBeUndefined();
  expect(logged).toEqual([]);
});
