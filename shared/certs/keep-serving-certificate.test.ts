import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import { keepServingCertificate } from './keep-serving-certificate';
import { ensureServingCertificate } from './serving-certificate';

const DAY_MS = 86_400_000;
const HOSTS = ['localhost'];

let dir = '';
let stop: AbortController;
let heard: (line: string) => void = () => undefined;
const log: Log = {
  ...silentLog,
  info: (_fields, message) => {
    heard(message);
  },
  warn: (_fields, message) => {
    heard(message);
  },
};

beforeEach(() => {
  dir = path.join(mkdtempSync(path.join(tmpdir(), 'keep-')), 'certs');
  stop = new AbortController();
});

afterEach(() => {
  stop.abort();
  rmSync(path.dirname(dir), { recursive: true });
});

async function nextLine(): Promise<string> {
  return new Promise((resolve) => {
    heard = resolve;
  });
}

test('a running server renews a certificate only near its expiration', async () => {
  const { certFile } = ensureServingCertificate({ dir, hosts: HOSTS });
  const before = readFileSync(certFile, 'utf8');
  let now = Date.now();
  let looks = 0;
  const clock = {
    now: () => {
      looks += 1;
      if (looks === 20) now += 340 * DAY_MS;
      return now;
    },
  };
  const line = nextLine();
  keepServingCertificate({ dir, hosts: HOSTS, log, clock, checkMs: 2 }, stop.signal);
  expect(await line).toBe('creating a self-signed serving certificate');
  expect(looks).toBeGreaterThanOrEqual(20);
  expect(readFileSync(certFile, 'utf8')).not.toBe(before);
  const { validTo } = new X509Certificate(readFileSync(certFile, 'utf8'));
  expect(Date.parse(validTo)).toBeGreaterThan(now + 300 * DAY_MS);
});

test('a failed renewal is logged and retried', async () => {
  const { caFile } = ensureServingCertificate({ dir, hosts: HOSTS });
  const refused = nextLine();
  keepServingCertificate({ dir: path.join(caFile, 'below'), hosts: HOSTS, log, checkMs: 2 }, stop.signal);
  expect(await refused).toMatch(/failed to renew the serving certificate/);
  expect(await nextLine()).toMatch(/failed to renew the serving certificate/);
});
