import { Slices } from '../../../../shared/concurrency/slices';
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

/** Signatures that are checked for one certificate: more than any chain needs that is meant to be understood. */
const SIGNATURES_MAX = 16;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/**
 * Looks for a chain of certificates, each issued by the next, from the client's to one of the anchors. All of them are in their time, have
 * keys of an accepted kind and allow the authentication of clients; those that issue others are authorities, as deep as they may be. Limits
 * on names are not checked, so that a chain with any is not trusted; nothing is asked about revocation.
 *
 * Names are compared from the client upwards, and signatures are checked from the anchors downwards: a key is used only if an anchor
 * vouches for it, so that strangers do not choose how long a check takes. Other work has its turn between two checks.
 */
export async function verifyChain(question: ChainQuestion): Promise<Verdict> {
  const search = new Search(question);
  const untilMs = await search.untilMs();
  return untilMs === undefined ? { isTrusted: false, why: search.why } : { isTrusted: true, untilMs };
}

/** The one may have issued the other, as far as their names tell; or has, as its signature proves. */
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
  /** Links with a good signature, each of them below an anchor. */
  readonly #signed: Link[] = [];
  /** The problem that was met last. */
  why = 'certificate signed by unknown authority';

  constructor({ certificate, intermediates, anchors, now }: ChainQuestion) {
    this.#certificate = anchors.find((anchor) => isSame(anchor, certificate)) ?? certificate;
    this.#issuers = withFurther(anchors, intermediates);
    this.#anchors = new Set(anchors);
    this.#now = now;
  }

  /** The time until which the client's certificate is good; undefined when it is not. */
  async untilMs(): Promise<number | undefined> {
    const own = this.#certificate;
    if (!this.#passes(problemOf(own, this.#now))) return undefined;
    if (this.#anchors.has(own)) return own.notAfterMs;
    const links = await this.#linksByName();
    // Grows while it is walked: whoever is vouched for may vouch for others.
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

  /** Who may have issued the client's certificate, who may have issued those, and so on. */
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

  /** What one key was found to have signed or not holds for all certificates of its bearer. */
  async #isSigned({ certificate, issuer }: Link): Promise<boolean> {
    const known = this.#checks.find(
      (each) => each.certificate === certificate && each.issuer.subjectAndKey === issuer.subjectAndKey,
    );
    if (known !== undefined) return known.isGood;
    if (this.#checks.length >= SIGNATURES_MAX) {
      return this.#passes('there are too many ways to verify the certificate');
    }
    if (this.#slices.due()) await this.#slices.pause();
    const isGood = hasSigned(issuer, certificate);
    this.#checks.push({ certificate, issuer, isGood });
    return isGood;
  }

  /** The time until which a chain that goes on from this one is good; undefined when there is none. */
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

  /** Whether there is no problem; one that there is, is kept. */
  #passes(problem: string | undefined): boolean {
    if (problem !== undefined) this.why = problem;
    return problem === undefined;
  }
}

function hasSigned(issuer: Certificate, certificate: Certificate): boolean {
  try {
    return certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    // What is no point of its curve is no key, and verifies nothing.
    return false;
  }
}

function problemOf(
  { notBeforeMs, notAfterMs, extendedUsages, hasAcceptedKey, hasUncheckedLimits }: Certificate,
  now: number,
): string | undefined {
  if (!(now >= notBeforeMs && now <= notAfterMs)) return 'certificate has expired or is not yet valid';
  if (!hasAcceptedKey) return 'certificate has a key of a kind or size that is not accepted';
  if (hasUncheckedLimits) return 'certificate has limits that are not understood';
  const isForClients =
    extendedUsages === undefined ||
    extendedUsages.includes(CLIENT_AUTH) ||
    extendedUsages.includes(ANY_USAGE);
  return isForClients ? undefined : 'certificate specifies an incompatible key usage';
}

/** An old one is an authority only if it is trusted as one. */
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

function withFurther(
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
