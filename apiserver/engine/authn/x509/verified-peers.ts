import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { StatusError } from '../../../../shared/errors/status-error';
import type { PeerCertificates } from '../../request/exchange';
import type { AccessCondition } from '../../request/access-condition';
import { unauthorized } from '../authenticator';
import type { CaBundle, CaContent } from './ca-bundle';
import { verifyChain } from '../../../../shared/certs/x509/chain';
import { parseChain } from '../../../../shared/certs/x509/sent-chain';

/** The result of verifying a client certificate against one bundle. `notAfterMs` is absent if it is malformed. */
export type VerifiedPeer = { readonly notAfterMs?: number } & (
  | { readonly isTrusted: true; readonly commonName: string; readonly organizations: readonly string[] }
  /** Thrown for every request of the connection, because creating an error is expensive. */
  | { readonly isTrusted: false; readonly refusal: StatusError }
);

/** How long a refusal is cached: a certificate that is not valid yet may become valid. */
const REFUSAL_MS = 10_000;
/** Cached refusals, about 2 KB each. */
const REFUSALS_MAX = 1_024;
/** The maximum of a name in the log. */
const NAME_CHARS_MAX = 256;

export interface VerifiedPeersOptions {
  readonly bundle: Pick<CaBundle, 'current'>;
  readonly clock: Clock;
  /** Returns why a trusted certificate with this common name is refused; undefined: accepted. */
  readonly nameProblem?: (commonName: string) => string | undefined;
}

type VerificationContext = Pick<Required<VerifiedPeersOptions>, 'clock' | 'nameProblem'> & {
  readonly content: CaContent;
};

interface Known {
  readonly content: CaContent;
  readonly untilMs: number;
  readonly peer: VerifiedPeer;
}

/**
 * Verifies client certificates against one bundle, once per connection: a result is valid until a certificate of the chain expires or the bundle
 * changes. TLS session resumption is not trusted. A refused chain is refused on other connections for ten seconds.
 */
export function verifiedPeers({
  bundle,
  clock,
  nameProblem = () => undefined,
}: VerifiedPeersOptions): (peer: PeerCertificates) => Promise<VerifiedPeer> {
  const known = new WeakMap<PeerCertificates, Known>();
  let chains = new VerifiedChains({ content: bundle.current(), clock, nameProblem });
  return async (peer) => {
    const content = bundle.current();
    const before = known.get(peer);
    if (before?.content === content && clock.now() <= before.untilMs) return before.peer;
    if (chains.content !== content) chains = new VerifiedChains({ content, clock, nameProblem });
    const found = await chains.find(peer);
    known.set(peer, found);
    return found.peer;
  };
}

/** Creates one condition for all watches of a connection: its certificates are still trusted. */
export function peerGrounds(
  verify: (peer: PeerCertificates) => Promise<VerifiedPeer>,
): (peer: PeerCertificates) => AccessCondition {
  const known = new WeakMap<PeerCertificates, AccessCondition>();
  return (peer) => {
    const before = known.get(peer);
    if (before !== undefined) return before;
    const refusal = async (): Promise<StatusError | undefined> => {
      const found = await verify(peer);
      return found.isTrusted ? undefined : found.refusal;
    };
    const ground: AccessCondition = { key: refusal, of: 'identity', refusal };
    known.set(peer, ground);
    return ground;
  };
}

/** Verifies chains against one content of a bundle. */
class VerifiedChains {
  readonly #context: VerificationContext;
  /** By the digest of the chain. */
  readonly #refused = new LRUCache<string, Known>({ max: REFUSALS_MAX });
  readonly #underWay = new Map<string, Promise<Known>>();

  constructor(context: VerificationContext) {
    this.#context = context;
  }

  get content(): CaContent {
    return this.#context.content;
  }

  /** Concurrent connections with the same chain share one verification (single-flight). */
  async find(peer: PeerCertificates): Promise<Known> {
    const digest = digestOf(peer);
    const refused = this.#refused.get(digest);
    if (refused !== undefined && this.#context.clock.now() <= refused.untilMs) return refused;
    const begun = this.#underWay.get(digest) ?? this.#verify(peer, digest);
    this.#underWay.set(digest, begun);
    return begun;
  }

  async #verify(peer: PeerCertificates, digest: string): Promise<Known> {
    try {
      const found = await verified(peer, this.#context);
      if (!found.peer.isTrusted) this.#refused.set(digest, found);
      return found;
    } finally {
      this.#underWay.delete(digest);
    }
  }
}

function digestOf(peer: PeerCertificates): string {
  const digest = createHash('sha256');
  for (const { raw } of peer) digest.update(raw);
  return digest.digest('base64');
}

async function verified(
  peer: PeerCertificates,
  { content, clock, nameProblem }: VerificationContext,
): Promise<Known> {
  const now = clock.now();
  const refused = (why: string, notAfterMs?: number): Known => ({
    content,
    untilMs: now + REFUSAL_MS,
    peer: {
      isTrusted: false,
      refusal: unauthorized(why),
      ...(notAfterMs === undefined ? {} : { notAfterMs }),
    },
  });
  const read = await parseChain(peer);
  if (typeof read === 'string') return refused(read);
  const [certificate, ...intermediates] = read;
  if (certificate === undefined) return refused('no certificate');
  const { commonName, organizations, notAfterMs } = certificate;
  const result = await verifyChain({ certificate, intermediates, anchors: content.anchors, now });
  if (!result.isTrusted) {
    const name = JSON.stringify(commonName.slice(0, NAME_CHARS_MAX));
    return refused(`the certificate of ${name} is not trusted: ${result.why}`, notAfterMs);
  }
  const problem = nameProblem(commonName);
  if (problem !== undefined) return refused(problem, notAfterMs);
  return {
    content,
    untilMs: result.untilMs,
    peer: { isTrusted: true, commonName, organizations, notAfterMs },
  };
}
