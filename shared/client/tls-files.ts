import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { pemCertificates } from '../certs/x509/certificate';
import { defined } from '../defined';
import type { Log } from '../log/log';
import type { ClientTls } from './connect-tls';

/** Paths of PEM files; `certFile` and `keyFile` are this client's own and go together. */
export interface TlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

type Material = readonly (Buffer | undefined)[];

/**
 * Gives what a new connection needs of the files as they are then, so that renewed certificates are taken up without a restart. Files
 * that cannot be read, or do not fit together because only half of them was renewed, are logged once and the last good ones stay
 * in use. The same object is returned until they change. Throws at once when they are not good from the beginning.
 */
export function clientTlsOf({ caFile, certFile, keyFile }: TlsFiles, log: Log): () => ClientTls {
  // What is given may hold a password besides, and these are logged.
  const files = { caFile, certFile, keyFile };
  let material = read(files);
  let current = tlsOf(material);
  let reported: string | undefined;
  return () => {
    try {
      const fresh = read(files);
      if (!isSame(fresh, material)) {
        current = tlsOf(fresh);
        material = fresh;
        log.info({ ...files }, 'client TLS files reloaded');
      }
      reported = undefined;
    } catch (error) {
      if (reported === String(error)) return current;
      reported = String(error);
      log.warn({ ...files, error }, 'failed to reload the client TLS files; the old ones stay in use');
    }
    return current;
  };
}

function read({ caFile, certFile, keyFile }: TlsFiles): Material {
  return [caFile, certFile, keyFile].map((file) => (file === undefined ? undefined : readFileSync(file)));
}

/** Throws if certificate and key do not fit together, or the file of authorities has none. */
function tlsOf([ca, cert, key]: Material): ClientTls {
  createSecureContext({ cert, key });
  if (ca !== undefined && pemCertificates(ca.toString()).length === 0) {
    throw new Error('the file of authorities has no certificate');
  }
  return defined({ ca, cert, key });
}

function isSame(left: Material, right: Material): boolean {
  return left.every((bytes, index) => {
    const other = right[index];
    return bytes === undefined || other === undefined ? bytes === other : bytes.equals(other);
  });
}
