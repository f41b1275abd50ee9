import { existsSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeCa } from '../../shared/certs/certificate';

/** The authority of a local set whose certificates the API servers know their clients by. */
export interface SigningAuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const VALID_DAYS = 3_650;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/**
 * The authority below `dir`, which exists; made at the first start. It is another one than that of the servers' own certificate: what it
 * signs for others to serve with, clients of the API server do not take for the API server.
 */
export function ensureSigningAuthority(dir: string): SigningAuthorityFiles {
  const certFile = path.join(dir, 'signing-ca.crt');
  const keyFile = path.join(dir, 'signing-ca.key');
  if (!existsSync(certFile) || !existsSync(keyFile)) {
    const { certificatePem, privateKeyPem } = makeCa({
      commonName: 'orch-signing-ca',
      validDays: VALID_DAYS,
    });
    writeFileAtomically(keyFile, privateKeyPem, PRIVATE_MODE);
    writeFileAtomically(certFile, certificatePem, PUBLIC_MODE);
  }
  return { certFile, keyFile };
}
