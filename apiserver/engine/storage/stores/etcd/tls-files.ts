import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientTls } from '../../../../../shared/client/connect-tls';
import { defined } from '../../../../../shared/defined';
import type { Log } from '../../../../../shared/log/log';

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
 * in use. Throws at once when they are not good from the beginning.
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
        log.info({ ...files }, 'TLS files for etcd reloaded');
      }
      reported = undefined;
    } catch (error) {
      if (reported === String(error)) return current;
      reported = String(error);
      log.warn({ ...files, error }, 'failed to reload the TLS files for etcd; the old ones stay in use');
    }
    return current;
  };
}

function read({ caFile, certFile, keyFile }: TlsFiles): Material {
  return [caFile, certFile, keyFile].map((file) => (file === undefined ? undefined : readFileSync(file)));
}

/** Throws if certificate and key do not fit together. */
function tlsOf([ca, cert, key]: Material): ClientTls {
  createSecureContext({ ca, cert, key });
  return defined({ ca, cert, key });
}

function isSame(left: Material, right: Material): boolean {
  return left.every((bytes, index) => {
    const other = right[index];
    return bytes === undefined || other === undefined ? bytes === other : bytes.equals(other);
  });
}
