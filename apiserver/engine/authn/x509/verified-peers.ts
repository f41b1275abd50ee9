import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../../shared/concurrency/clock';
import { Slices } from '../../../../shared/concurrency/slices';
import type { StatusError } from '../../../../shared/errors/status-error';
import type { PeerCertificates } from '../../request/exchange';
import type { AccessCondition } from '../../request/access-condition';
import { unauthorized } from '../authenticator';
import type { CaBundle, CaContent } from './ca-bundle';
import type { Certificate } from './certificate';
import { certificateOf } from './certificate';
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
/** Of all certificates that a client shows; Go takes no longer message in a handshake. */
const CHAIN_BYTES_MAX = 65_536;
/** Refused chains that are remembered: about 2 KB each. */
const REFUSALS_MAX = 1_024;
/** Of a name that stands in the log. */
const NAME_CHARS_MAX = 256;

export interface VerifiedPeersOptions {
  readonly bundle: Pick<CaBundle, 'current'>;
  readonly clock: Clock;
  /** Why a certificate with this common name is not wanted although it is trusted. */
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
 * Verifies what clients show against one bundle, once per connection: what was found stands until a certificate of the chain expires
 * or the bundle changes. A session that was resumed says nothing here; only certificates and their signatures do. A chain that was
 * refused is refused on other connections, too, for ten seconds.
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

/** One ground for all watches of a connection: that its certificates are still trusted. */
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

/** Chains that were verified under one content of a bundle. */
class VerifiedChains {
  readonly #context: VerificationContext;
  /** By the digest of the chain, as the others. */
  readonly #refused = new LRUCache<string, Known>({ max: REFUSALS_MAX });
  readonly #underWay = new Map<string, Promise<Known>>();

  constructor(context: VerificationContext) {
    this.#context = context;
  }

  get content(): CaContent {
    return this.#context.content;
  }

  /** What is shown on several connections at the same time is verified once. */
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
  const read = await readChain(peer);
  if (typeof read === 'string') return refused(read);
  const [certificate, ...intermediates] = read;
  if (certificate === undefined) return refused('there is no certificate');
  const { commonName, organizations, notAfterMs } = certificate;
  const verdict = await verifyChain({ certificate, intermediates, anchors: content.anchors, now });
  if (!verdict.isTrusted) {
    const name = JSON.stringify(commonName.slice(0, NAME_CHARS_MAX));
    return refused(`the certificate of ${name} is not trusted: ${verdict.why}`, notAfterMs);
  }
  const problem = nameProblem(commonName);
  if (problem !== undefined) return refused(problem, notAfterMs);
  return {
    content,
    untilMs: verdict.untilMs,
    peer: { isTrusted: true, commonName, organizations, notAfterMs },
  };
}

/** The client's own certificate and those that it sent along, or what is wrong with them. Other work has its turn in between. */
async function readChain(peer: PeerCertificates): Promise<readonly Certificate[] | string> {
  const shown = peer.slice(0, 1 + INTERMEDIATES_MAX);
  const bytes = shown.reduce((sum, { raw }) => sum + raw.length, 0);
  if (bytes > CHAIN_BYTES_MAX) return `the certificates are longer than ${String(CHAIN_BYTES_MAX)} bytes`;
  const slices = new Slices();
  const read: Certificate[] = [];
  for (const x509 of shown) {
    if (slices.due()) await slices.pause();
    try {
      read.push(certificateOf(x509));
    } catch (error) {
      return `the certificate is malformed: ${String(error)}`;
    }
  }
  return read;
}
