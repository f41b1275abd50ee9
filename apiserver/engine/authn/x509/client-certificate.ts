import type { Clock } from '../../../../shared/concurrency/clock';
import type { DurationHistogram } from '../../../../shared/metrics/duration-histogram';
import type { Authenticator } from '../authenticator';
import type { CaBundle } from './ca-bundle';
import { peerGrounds, verifiedPeers } from './verified-peers';

export interface ClientCertificateOptions {
  readonly bundle: Pick<CaBundle, 'current'>;
  readonly clock: Clock;
  /** Records the remaining lifetime of certificates, in milliseconds. */
  readonly life?: Pick<DurationHistogram, 'observe'>;
}

/**
 * Authenticates by the client certificate of the TLS connection: the common name is the user name, the organizations are the groups. Returns
 * undefined without a certificate or common name.
 */
export function clientCertificate({ bundle, clock, life }: ClientCertificateOptions): Authenticator {
  const verify = verifiedPeers({ bundle, clock });
  const groundOf = peerGrounds(verify);
  return async ({ peer }) => {
    if (peer === undefined) return undefined;
    const found = await verify(peer);
    if (found.notAfterMs !== undefined) life?.observe(found.notAfterMs - clock.now());
    if (!found.isTrusted) throw found.refusal;
    if (found.commonName === '') return undefined;
    const user = { name: found.commonName, uid: '', groups: found.organizations, extra: {} };
    return { user, ground: () => groundOf(peer) };
  };
}
