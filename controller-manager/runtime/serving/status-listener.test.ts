import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { createClient } from '../../../shared/client/client';
import { silentLog } from '../../../shared/log/log';
import { createMetrics } from './metrics';
import { openStatusListener } from './status-listener';

const HOST = '127.0.0.1';
const told: string[] = [];
const parts = {
  client: createClient({ server: 'http://127.0.0.1:1' }),
  metrics: createMetrics({ process: false }),
  log: { ...silentLog, warn: (_fields: object, message: string) => void told.push(message) },
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
  told.length = 0;
  other = createServer();
  other.listen(0, HOST);
  await once(other, 'listening');
  securePort = (other.address() as AddressInfo).port;
});
afterEach(() => other.close());

test('a port that another process has is an error for whoever named it', async () => {
  const opening = openStatusListener({ ...flags, securePort }, { ...parts, isPortGiven: true });
  await expect(opening).rejects.toThrow(`--secure-port ${String(securePort)} cannot be had`);
});

test('a port that nobody named and another process has is done without', async () => {
  expect(
    await openStatusListener({ ...flags, securePort }, { ...parts, isPortGiven: false }),
  ).toBeUndefined();
  expect(told).toEqual(['neither /healthz nor /metrics is served']);
});

test('no port, no listener', async () => {
  expect(
    await openStatusListener({ ...flags, securePort: 0 }, { ...parts, isPortGiven: true }),
  ).toBeUndefined();
  expect(told).toEqual([]);
});
