import { existsSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeCa } from '../../shared/certs/certificate';

/** The client certificate authority of a local set. */
export interface SigningAuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const VALID_DAYS = 3_650;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

/**
 * Returns the authority in the existing folder `dir`, and creates it at the first start. It differs from the authority of the serving certificate,
 * so that clients do not accept its certificates as those of the API server.
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
