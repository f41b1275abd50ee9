import type { KeyObject } from 'node:crypto';
import type { Certificate } from './certificate';

/** What a certificate was found to be worth. */
export type Verdict =
  | { readonly isTrusted: true; readonly untilMs: number }
  /** `why` is for the log. */
  | { readonly isTrusted: false; readonly why: string };

export interface ChainQuestion {
  readonly certificate: Certificate;
  /** What the client sent along: none of it is trusted by itself. */
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Signatures that are checked for one certificate: a client may send intermediates that fit each other in very many ways. */
const SIGNATURES_MAX = 100;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/**
 * Looks for a chain of certificates, each issued by the next, from the client's to one of the anchors. All of them are in their time
 * and allow the authentication of clients; those that issue others are authorities, as deep as they may be. Limits on names are not
 * checked, so that a chain with any is not trusted; nothing is asked about revocation.
 */
export function verifyChain({ certificate, intermediates, anchors, now }: ChainQuestion): Verdict {
  const search = new Search({ intermediates, anchors, now });
  const untilMs = search.from([certificate]);
  return untilMs === undefined ? { isTrusted: false, why: search.why } : { isTrusted: true, untilMs };
}

class Search {
  readonly #intermediates: readonly Certificate[];
  readonly #anchors: readonly Certificate[];
  readonly #now: number;
  #signatures = 0;
  /** The problem that was met last. */
  why = 'certificate signed by unknown authority';

  constructor({ intermediates, anchors, now }: Omit<ChainQuestion, 'certificate'>) {
    this.#intermediates = intermediates;
    this.#anchors = anchors;
    this.#now = now;
  }

  /** The time until which a chain that goes on from this one is good; undefined when there is none. */
  from(path: readonly Certificate[]): number | undefined {
    const current = path.at(-1);
    if (current === undefined) return undefined;
    const isAnchor = this.#anchors.some((anchor) => isSame(anchor, current));
    const problem =
      problemOf(current, this.#now) ?? issuerProblemOf(current, { depth: path.length - 1, isAnchor });
    if (problem !== undefined) {
      this.why = problem;
      return undefined;
    }
    if (isAnchor) {
      return Math.min(...path.map(({ notAfterMs }) => notAfterMs));
    }
    for (const issuer of [...this.#anchors, ...this.#intermediates]) {
      if (path.some((each) => isSame(each, issuer)) || !this.#hasIssued(issuer, current)) continue;
      const untilMs = this.from([...path, issuer]);
      if (untilMs !== undefined) return untilMs;
    }
    return undefined;
  }

  #hasIssued(issuer: Certificate, current: Certificate): boolean {
    if (!current.isSignedSoundly || !current.x509.checkIssued(issuer.x509)) return false;
    this.#signatures += 1;
    if (this.#signatures > SIGNATURES_MAX) {
      this.why = 'there are too many ways to verify the certificate';
      return false;
    }
    try {
      const { publicKey } = issuer.x509;
      return isBearable(publicKey) && current.x509.verify(publicKey);
    } catch {
      // A key of a kind that nobody here knows verifies nothing.
      return false;
    }
  }
}

function problemOf(certificate: Certificate, now: number): string | undefined {
  const { notBeforeMs, notAfterMs, extendedUsages } = certificate;
  if (!(now >= notBeforeMs && now <= notAfterMs)) return 'certificate has expired or is not yet valid';
  if (certificate.hasUncheckedLimits) return 'certificate has limits that are not understood';
  const isForClients =
    extendedUsages === undefined ||
    extendedUsages.includes(CLIENT_AUTH) ||
    extendedUsages.includes(ANY_USAGE);
  return isForClients ? undefined : 'certificate specifies an incompatible key usage';
}

/** `depth` is 0 for the client's own certificate, 1 for that of its issuer. An old one is an authority only if it is trusted as one. */
function issuerProblemOf(
  { isAuthority, isOldVersion, pathLengthMax }: Certificate,
  { depth, isAnchor }: { readonly depth: number; readonly isAnchor: boolean },
): string | undefined {
  if (depth === 0) return undefined;
  if (!isAuthority && !(isOldVersion && isAnchor)) {
    return 'certificate is not authorized to sign other certificates';
  }
  return pathLengthMax !== undefined && depth - 1 > pathLengthMax
    ? 'too many intermediates for path length constraint'
    : undefined;
}

const RSA_BITS_MAX = 8_192;
const RSA_EXPONENT_MAX = 2n ** 31n;

/** Whoever is not known yet must not keep this server busy with keys that are far larger than any that are of use. */
export function isBearable({ asymmetricKeyDetails }: Pick<KeyObject, 'asymmetricKeyDetails'>): boolean {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  return modulusLength <= RSA_BITS_MAX && publicExponent < RSA_EXPONENT_MAX;
}

function isSame(a: Certificate, b: Certificate): boolean {
  return a === b || a.x509.raw.equals(b.x509.raw);
}
