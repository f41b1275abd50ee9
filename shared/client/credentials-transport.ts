import type { Clock } from '../concurrency/clock';
import { silentLog } from '../log/log';
import type { ClientTls } from './connect-tls';
import type { ExecCredential } from './exec-plugin';
import type { ClientOptions } from './options';
import { clientTlsOf } from './tls-files';
import type { Transport } from './transport';

/**
 * A transport for the current credentials. With another client certificate or other authorities it is replaced: idle connections of the old
 * one are closed at once, and those in use with their answers.
 */
export interface CredentialsTransport {
  of(credential: ExecCredential | undefined): Transport;
  close(): void;
}

/** As client-go, which reads the files at most once a second for new connections. */
const FILES_AGE_MAX_MS = 1_000;

/** `create` makes one transport. Throws if files of the options cannot be used. */
export function createCredentialsTransport(
  options: ClientOptions,
  create: (options: ClientOptions) => Transport,
  clock: Clock,
): CredentialsTransport {
  const currentFiles = filesOf(options, clock);
  let cert: string | undefined;
  let files = currentFiles();
  let transport = create({ ...options, ...files });
  return {
    of: (credential) => {
      const fresh = currentFiles();
      if (credential?.cert !== cert || fresh !== files) {
        transport.close();
        files = fresh;
        cert = credential?.cert;
        const { key } = credential ?? {};
        const own = cert === undefined || key === undefined ? {} : { cert, key };
        transport = create({ ...options, ...files, ...own });
      }
      return transport;
    },
    close: () => {
      transport.close();
    },
  };
}

/** Returns the content of the files, another object after a change; undefined without files. */
function filesOf(options: ClientOptions, clock: Clock): () => ClientTls | undefined {
  const { caFile, certFile, keyFile, log = silentLog } = options;
  if (caFile === undefined && certFile === undefined) return () => undefined;
  const read = clientTlsOf({ caFile, certFile, keyFile }, log);
  let content = read();
  let readAtMs = clock.now();
  return () => {
    if (clock.now() - readAtMs < FILES_AGE_MAX_MS) return content;
    content = read();
    readAtMs = clock.now();
    return content;
  };
}
