import type { ExecCredential } from './exec-plugin';
import type { ClientOptions } from './options';
import type { Transport } from './transport';

/** A transport per client certificate: a changed certificate gets a new one, and the idle connections of the old one are closed. */
export interface CredentialsTransport {
  of(credential: ExecCredential | undefined): Transport;
  close(): void;
}

/** `create` makes one transport. */
export function createCredentialsTransport(
  options: ClientOptions,
  create: (options: ClientOptions) => Transport,
): CredentialsTransport {
  let cert: string | undefined;
  let transport = create(options);
  return {
    of: (credential) => {
      if (credential?.cert !== cert) {
        transport.close();
        cert = credential?.cert;
        const { key } = credential ?? {};
        transport = create(cert === undefined || key === undefined ? options : { ...options, cert, key });
      }
      return transport;
    },
    close: () => {
      transport.close();
    },
  };
}
