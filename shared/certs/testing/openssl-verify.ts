import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RandomChain } from './random-chains';

const SECOND_MS = 1_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Returns OpenSSL's result for each chain: `trusted`, or the reason. One process verifies all chains with shared files of trusted and sent
 * certificates, so that their names must differ.
 */
export function opensslResults(chains: readonly RandomChain[], now: number): readonly string[] {
  const dir = mkdtempSync(path.join(tmpdir(), 'openssl-verify-'));
  try {
    const write = (name: string, certificates: readonly Buffer[]): void => {
      writeFileSync(path.join(dir, name), certificates.map(pemOf).join(''));
    };
    // One unreadable certificate would invalidate the whole file.
    write('trusted.pem', chains.flatMap(({ trusted }) => trusted).filter(isReadable));
    write(
      'sent.pem',
      chains.flatMap(({ sent }) => sent),
    );
    const files = chains.map(({ leaf }, number) => {
      const name = `${String(number)}.pem`;
      write(name, [leaf]);
      return name;
    });
    const options = ['-purpose', 'sslclient', '-partial_chain', '-attime', String(now / SECOND_MS)];
    const sources = ['-no-CApath', '-no-CAstore', '-CAfile', 'trusted.pem', '-untrusted', 'sent.pem'];
    const { stdout, stderr, error } = spawnSync('openssl', ['verify', ...options, ...sources, ...files], {
      cwd: dir,
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    if (error !== undefined) throw error;
    const good = new Set([...stdout.matchAll(/^(\d+\.pem): OK$/gm)].map(([, name]) => name));
    return files.map((name) => (good.has(name) ? 'trusted' : reasonOf(name, stderr)));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function isReadable(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}

/** Returns the reason of one file, whose lines end with one that names it. Throws an Error if there are none. */
function reasonOf(file: string, stderr: string): string {
  const lines = stderr.split('\n');
  const end = lines.findIndex((line) => line.includes(` ${file}`));
  if (end < 0) throw new Error(`openssl reported nothing about ${file}: ${stderr.slice(-500)}`);
  const reason = lines.slice(0, end).findLast((line) => line.startsWith('error '));
  return lines[end]?.includes('verification failed') === true ? (reason ?? 'refused') : 'unreadable';
}

export function pemOf(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
