import { Slices } from '../../concurrency/slices';
import type { Certificate } from './certificate';

/** The result of verifying a certificate. */
export type Verdict =
  | { readonly isTrusted: true; readonly untilMs: number }
  /** `why` is for the log. */
  | { readonly isTrusted: false; readonly why: string };

export interface ChainQuestion {
  readonly certificate: Certificate;
  /** Untrusted certificates that the client sent. */
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The maximum of signature checks for one certificate, far more than a real chain needs (denial of service). */
const SIGNATURES_MAX = 16;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/**
 * Searches a chain from the client's certificate to a trust anchor. Every certificate must be valid now, have an accepted key and allow client
 * authentication; issuers must be authorities within their path length. Name constraints are not checked, so that a chain with any is not
 * trusted. Revocation is not checked.
 *
 * Names are compared from the client upwards, and signatures are verified from the anchors downwards. Only keys below an anchor are used, so
 * that an untrusted client cannot choose expensive keys. The search yields to the event loop between checks.
 */
export async function verifyChain(question: ChainQuestion): Promise<Verdict> {
  const search = new Search(question);
  const untilMs = await search.untilMs();
  return untilMs === undefined ? { isTrusted: false, why: search.why } : { isTrusted: true, untilMs };
}

/** A candidate pair of certificate and issuer, by name or by verified signature. */
interface Link {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
}

class Search {
  readonly #certificate: Certificate;
  /** Anchors first. */
  readonly #issuers: readonly Certificate[];
  readonly #anchors: ReadonlySet<Certificate>;
  readonly #now: number;
  readonly #slices = new Slices();
  readonly #checks: (Link & { readonly isGood: boolean })[] = [];
  /** Links with a valid signature, all below an anchor. */
  readonly #signed: Link[] = [];
  /** The last problem found. */
  why = 'certificate signed by unknown authority';

  constructor({ certificate, intermediates, anchors, now }: ChainQuestion) {
    this.#certificate = anchors.find((anchor) => isSame(anchor, certificate)) ?? certificate;
    this.#issuers = mergeDistinct(anchors, intermediates);
    this.#anchors = new Set(anchors);
    this.#now = now;
  }

  /** Returns until when the certificate is valid; undefined if it is not trusted. */
  async untilMs(): Promise<number | undefined> {
    const own = this.#certificate;
    if (!this.#passes(problemOf(own, this.#now))) return undefined;
    if (this.#anchors.has(own)) return own.notAfterMs;
    const links = await this.#linksByName();
    // The set grows during iteration: a verified issuer may have issued others.
    const vouchedFor = new Set(links.map(({ issuer }) => issuer).filter((each) => this.#anchors.has(each)));
    for (const issuer of vouchedFor) {
      for (const link of links.filter((each) => each.issuer === issuer)) {
        if (!(await this.#isSigned(link))) continue;
        this.#signed.push(link);
        vouchedFor.add(link.certificate);
        const untilMs = this.#goodFrom([own]);
        if (untilMs !== undefined) return untilMs;
      }
    }
    return undefined;
  }

  /** Returns all candidate issuers by name, transitively. */
  async #linksByName(): Promise<readonly Link[]> {
    const links: Link[] = [];
    const reached = new Set([this.#certificate]);
    for (const certificate of reached) {
      if (this.#slices.due()) await this.#slices.pause();
      if (!certificate.isSignedSoundly || this.#anchors.has(certificate)) continue;
      for (const issuer of this.#issuers) {
        const isOther = issuer.subjectAndKey !== certificate.subjectAndKey;
        if (!isOther || !certificate.x509.checkIssued(issuer.x509) || !this.#mayIssue(issuer)) continue;
        links.push({ certificate, issuer });
        reached.add(issuer);
      }
    }
    return links;
  }

  #mayIssue(issuer: Certificate): boolean {
    return this.#passes(
      problemOf(issuer, this.#now) ?? issuerProblemOf(issuer, { isAnchor: this.#anchors.has(issuer) }),
    );
  }

  /** The result for one key holds for all certificates of its issuer. */
  async #isSigned({ certificate, issuer }: Link): Promise<boolean> {
    const known = this.#checks.find(
      (each) => each.certificate === certificate && each.issuer.subjectAndKey === issuer.subjectAndKey,
    );
    if (known !== undefined) return known.isGood;
    if (this.#checks.length >= SIGNATURES_MAX) {
      return this.#passes('too many signature checks are needed to verify the certificate');
    }
    if (this.#slices.due()) await this.#slices.pause();
    const isGood = hasSigned(issuer, certificate);
    this.#checks.push({ certificate, issuer, isGood });
    return isGood;
  }

  /** Returns until when a chain that continues this path is valid; undefined if there is none. */
  #goodFrom(path: readonly Certificate[]): number | undefined {
    const current = path.at(-1);
    if (current === undefined || !this.#passes(depthProblemOf(current, path.length - 1))) return undefined;
    if (this.#anchors.has(current)) return Math.min(...path.map(({ notAfterMs }) => notAfterMs));
    for (const { certificate, issuer } of this.#signed) {
      const isBeyond = path.every(({ subjectAndKey }) => subjectAndKey !== issuer.subjectAndKey);
      if (certificate !== current || !isBeyond) continue;
      const untilMs = this.#goodFrom([...path, issuer]);
      if (untilMs !== undefined) return untilMs;
    }
    return undefined;
  }

  /** Returns whether there is no problem, and records one. */
  #passes(problem: string | undefined): boolean {
    if (problem !== undefined) this.why = problem;
    return problem === undefined;
  }
}

function hasSigned(issuer: Certificate, certificate: Certificate): boolean {
  try {
    return certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    // An invalid curve point is not a usable key.
    return false;
  }
}

function problemOf(
  { notBeforeMs, notAfterMs, extendedUsages, hasAcceptedKey, hasUncheckedLimits }: Certificate,
  now: number,
): string | undefined {
  if (!(now >= notBeforeMs && now <= notAfterMs)) return 'certificate has expired or is not yet valid';
  if (!hasAcceptedKey) return 'certificate has a key type or size that is not accepted';
  if (hasUncheckedLimits) return 'certificate has name constraints or an unknown critical extension';
  const isForClients =
    extendedUsages === undefined ||
    extendedUsages.includes(CLIENT_AUTH) ||
    extendedUsages.includes(ANY_USAGE);
  return isForClients ? undefined : 'certificate specifies an incompatible key usage';
}

/** An X.509 v1 certificate is an authority only as a trust anchor. */
function issuerProblemOf(
  { isAuthority, isOldVersion }: Certificate,
  { isAnchor }: { readonly isAnchor: boolean },
): string | undefined {
  return isAuthority || (isOldVersion && isAnchor)
    ? undefined
    : 'certificate is not authorized to sign other certificates';
}

/** `depth` is 0 for the client's own certificate, 1 for that of its issuer. */
function depthProblemOf({ pathLengthMax }: Certificate, depth: number): string | undefined {
  return depth > 0 && pathLengthMax !== undefined && depth - 1 > pathLengthMax
    ? 'too many intermediates for path length constraint'
    : undefined;
}

function mergeDistinct(
  anchors: readonly Certificate[],
  intermediates: readonly Certificate[],
): readonly Certificate[] {
  const all = [...anchors];
  for (const further of intermediates) if (!all.some((each) => isSame(each, further))) all.push(further);
  return all;
}

function isSame(a: Certificate, b: Certificate): boolean {
  return a === b || a.der.equals(b.der);
}
