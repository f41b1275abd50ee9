import type { ConnectionOptions } from 'node:tls';
import { connect } from 'node:tls';
import type { TestServer } from './testing/client';
import { always, startServer, textAnswer } from './testing/client';

let running: TestServer;
beforeAll(async () => {
  running = await startServer(always(() => textAnswer('')));
});
afterAll(async () => running.stop());

/** `agreed`, or why there is no connection. */
async function outcome(options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: running.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve('agreed');
    });
    socket.once('error', ({ message }) => resolve(message));
  });
}

test.each(['X25519', 'P-256', 'P-384', 'P-521'])(
  'the key exchange group %s is accepted',
  async (ecdhCurve) => {
    expect(await outcome({ minVersion: 'TLSv1.3', ecdhCurve })).toBe('agreed');
  },
);

test.each(['X448', 'sect571k1', 'ffdhe4096', 'ffdhe8192'])(
  'the expensive group %s is refused',
  async (ecdhCurve) => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const only = { minVersion: version, maxVersion: version };
      expect(await outcome({ ...only, ecdhCurve })).toMatch(/handshake failure|no suitable|illegal/);
    }
  },
);

test.each(['TLSv1', 'TLSv1.1'] as const)(
  'a client that offers no more than %s is refused',
  async (version) => {
    // OpenSSL offers such versions at this level only.
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await outcome(old)).toMatch(/alert protocol version/u);
  },
);
