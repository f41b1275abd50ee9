import type { X509Certificate } from 'node:crypto';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { StatusError } from '../../../../shared/errors/status-error';
import type { PeerCertificates } from '../../../exchange/exchange';
import type { Ground } from '../../../exchange/ground';
import { unauthorized } from '../authenticator';
import type { CaBundle, CaContent } from './ca-bundle';
import type { Certificate } from './certificate';
import { certificateOf } from './certificate';
import type { Verdict } from './chain';
import { verifyChain } from './chain';

/** A client's certificate and what it is worth under one bundle. `notAfterMs` is absent for one that cannot be read. */
export type VerifiedPeer = { readonly notAfterMs?: number } & (
  | { readonly isTrusted: true; readonly commonName: string; readonly organizations: readonly string[] }
  /** To be thrown, for every request of the connection: making an error takes longer than all the rest. */
  | { readonly isTrusted: false; readonly refusal: StatusError }
);

/** How long a refusal stands: a certificate that is of no use yet may be later. */
const REFUSAL_MS = 10_000;
/** Far more than any chain has. */
const INTERMEDIATES_MAX = 16;

export interface VerifiedPeersOptions {
  readonly bundle: Pick<CaBundle, 'current'>;
  readonly clock: Clock;
  /** Why a certificate with this common name is not wanted although it is trusted. */
  readonly nameProblem?: (commonName: string) => string | undefined;
}

interface VerificationContext extends Pick<Required<VerifiedPeersOptions>, 'nameProblem'> {
  readonly content: CaContent;
  readonly now: number;
}

interface Known {
  readonly content: CaContent;
  readonly untilMs: number;
  readonly peer: VerifiedPeer;
}

/**
 * Verifies what clients show against one bundle, once per connection: what was found stands until a certificate of the chain expires
 * or the bundle changes. A session that was resumed says nothing here; only certificates and their signatures do.
 */
export function verifiedPeers({
  bundle,
  clock,
  nameProblem = () => undefined,
}: VerifiedPeersOptions): (peer: PeerCertificates) => VerifiedPeer {
  const known = new WeakMap<PeerCertificates, Known>();
  return (peer) => {
    const content = bundle.current();
    const now = clock.now();
    const before = known.get(peer);
    if (before !== undefined && before.content === content && now <= before.untilMs) return before.peer;
    const { untilMs, peer: found } = verified(peer, { content, now, nameProblem });
    known.set(peer, { content, untilMs, peer: found });
    return found;
  };
}

/** One ground for all watches of a connection: that its certificates are still trusted. */
export function peerGrounds(
  verify: (peer: PeerCertificates) => VerifiedPeer,
): (peer: PeerCertificates) => Ground {
  const known = new WeakMap<PeerCertificates, Ground>();
  return (peer) => {
    const before = known.get(peer);
    if (before !== undefined) return before;
    const refusal: Ground['refusal'] = async () => {
      const found = verify(peer);
      return Promise.resolve(found.isTrusted ? undefined : found.refusal);
    };
    const ground: Ground = { key: refusal, of: 'identity', refusal };
    known.set(peer, ground);
    return ground;
  };
}

function verified(
  [own, ...sent]: readonly X509Certificate[],
  { content, now, nameProblem }: VerificationContext,
): Omit<Known, 'content'> {
  const { anchors } = content;
  const refused = (why: string, parsed?: Certificate): Omit<Known, 'content'> => ({
    untilMs: now + REFUSAL_MS,
    peer: {
      isTrusted: false,
      refusal: unauthorized(why),
      ...(parsed === undefined ? {} : { notAfterMs: parsed.notAfterMs }),
    },
  });
  if (own === undefined) return refused('there is no certificate');
  let certificate: Certificate;
  let verdict: Verdict;
  try {
    certificate = certificateOf(own);
    const intermediates = sent.slice(0, INTERMEDIATES_MAX).map(certificateOf);
    verdict = verifyChain({ certificate, intermediates, anchors, now });
  } catch (error) {
    return refused(`the certificate is malformed: ${String(error)}`);
  }
  const { commonName, organizations, notAfterMs } = certificate;
  if (!verdict.isTrusted) {
    return refused(
      `the certificate of ${JSON.stringify(commonName)} is not trusted: ${verdict.why}`,
      certificate,
    );
  }
  const problem = nameProblem(commonName);
  if (problem !== undefined) return refused(problem, certificate);
  return { untilMs: verdict.untilMs, peer: { isTrusted: true, commonName, organizations, notAfterMs } };
}
