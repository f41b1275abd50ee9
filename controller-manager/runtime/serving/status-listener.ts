import type { Client } from '../../../shared/client/client';
import type { Log } from '../../../shared/log/log';
import { createAccess } from './access';
import type { Listener } from './listener';
import { ListenerError, openListener } from './listener';
import { servingCertificates } from './serving-certificate';
import type { Metrics } from './metrics';
import type { ServingFlags } from './serving-flags';

export interface StatusListenerParts {
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Client;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly isPortGiven: boolean;
}

/**
 * Opens the listener of the flags; undefined if disabled. A default port that is in use is skipped, because two processes on one machine
 * are started with the same flags. Throws ListenerError and ServingCertificateError.
 */
export async function openStatusListener(
  flags: ServingFlags,
  { client, metrics, log, isPortGiven }: StatusListenerParts,
): Promise<Listener | undefined> {
  const { securePort: port, bindAddress, tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = flags;
  if (port === 0) return undefined;
  const certificate = servingCertificates({ certFile, keyFile, bindAddress });
  const access = createAccess({ client, alwaysAllowPaths: flags.authorizationAlwaysAllowPaths, log });
  try {
    const listener = await openListener({ bindAddress, port, certificate, access, metrics, log });
    log.info({ address: bindAddress, port }, 'serving /healthz and /metrics over TLS');
    return listener;
  } catch (error) {
    if (isPortGiven || !(error instanceof ListenerError && error.isTaken)) throw error;
    log.warn({ reason: error.message }, 'neither /healthz nor /metrics is served');
    return undefined;
  }
}
