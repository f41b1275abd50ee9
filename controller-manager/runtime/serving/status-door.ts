import type { Client } from '../../../shared/client/client';
import type { Log } from '../../../shared/log/log';
import { createAccess } from './access';
import type { Door } from './door';
import { DoorError, openDoor } from './door';
import { doorCertificates } from './door-certificate';
import type { Metrics } from './metrics';
import type { ServingFlags } from './serving-flags';

export interface StatusDoorParts {
  /** Whoever may ask who somebody is, and what they may. */
  readonly client: Client;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly isPortGiven: boolean;
}

/**
 * Opens the door that the flags ask for; undefined where they ask for none. A port that nobody named and another process has is no reason
 * not to work: two processes on one machine are started with the same flags. Throws DoorError and DoorCertificateError.
 */
export async function openStatusDoor(
  flags: ServingFlags,
  { client, metrics, log, isPortGiven }: StatusDoorParts,
): Promise<Door | undefined> {
  const { securePort: port, bindAddress, tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = flags;
  if (port === 0) return undefined;
  const certificate = doorCertificates({ certFile, keyFile, bindAddress });
  const access = createAccess({ client, alwaysAllowPaths: flags.authorizationAlwaysAllowPaths, log });
  try {
    const door = await openDoor({ bindAddress, port, certificate, access, metrics, log });
    log.info({ address: bindAddress, port }, 'serving /healthz and /metrics over TLS');
    return door;
  } catch (error) {
    if (isPortGiven || !(error instanceof DoorError && error.isTaken)) throw error;
    log.warn({ why: error.message }, 'neither /healthz nor /metrics is served');
    return undefined;
  }
}
