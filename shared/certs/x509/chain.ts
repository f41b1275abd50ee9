import type { X509Certificate } from 'node:crypto';
import { Slices } from '../../concurrency/slices';
import { hostNameProblem } from './alternative-names';
import type { Certificate } from './certificate';
import type { ComparisonBudget } from './name-constraints';
import { comparisonBudget, constrainedNameProblem } from './name-constraints';

/** The result of verifying a certificate. */
export type Result =
  | { readonly isTrusted: true; readonly untilMs: number }
  /** `why` is Go's text without its prefix `x509: `. */
  | { readonly isTrusted: false; readonly why: string };

export interface ChainQuestion {
  readonly certificate: Certificate;
  /** Untrusted certificates that the peer sent. */
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The host that a server's certificate must be for. Absent: a client's certificate is verified. */
  readonly host?: string;
}

/**
 * The maximum of signature checks for one certificate. That of servers, which the configuration names, is Go's; unknown clients get far
 * fewer, which is still more than a real chain needs (denial of service).
 */
const SIGNATURES_MAX = { client: 16, server: 100 } as const;
/** The maximum of partial chains that are tried once all signatures are known. */
const PATHS_MAX = 1_000;
/** The maximum of a name in a message. */
const NAME_CHARS_MAX = 256;
const USAGE = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;
const ANY_USAGE = '2.5.29.37.0';
const WRONG_USAGE = 'certificate specifies an incompatible key usage';

/**
 * Searches a chain from the certificate to a trust anchor by the rules of Go (`crypto/x509`, Verify). Every certificate must be valid now,
 * have an accepted key and allow the usage; issuers must be authorities within their path length and name constraints. Issuers are found by
 * the bytes of their name alone, and all issuers of one name are tried. Revocation is not checked.
 *
 * Names are compared from the certificate upwards, and signatures are verified from the anchors downwards. Only keys below an anchor are
 * used, so that an untrusted peer cannot choose expensive keys. The search yields to the event loop between checks.
 */
export async function verifyChain(question: ChainQuestion): Promise<Result> {
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
  readonly #host: string | undefined;
  readonly #slices = new Slices();
  readonly #checks: (Link & { readonly isGood: boolean })[] = [];
  /** Links with a valid signature, all below an anchor. */
  readonly #signed: Link[] = [];
  readonly #comparisons = comparisonBudget();
  #paths = 0;
  /** A problem of the whole, and the first one of a candidate issuer. */
  #problem: string | undefined;
  #hint = '';

  constructor({ certificate, intermediates, anchors, now, host }: ChainQuestion) {
    this.#certificate = anchors.find((anchor) => isSame(anchor, certificate)) ?? certificate;
    this.#issuers = mergeDistinct(anchors, intermediates);
    this.#anchors = new Set(anchors);
    this.#now = now;
    this.#host = host;
  }

  /** The reason if the certificate is not trusted. */
  get why(): string {
    return this.#problem ?? `certificate signed by unknown authority${this.#hint}`;
  }

  /** Returns until when the certificate is valid; undefined if it is not trusted. */
  async untilMs(): Promise<number | undefined> {
    const own = this.#certificate;
    this.#problem = problemOf(own, this.#now) ?? this.#ownProblem();
    if (this.#problem !== undefined) return undefined;
    if (this.#anchors.has(own)) return this.#goodFrom([own]);
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

  /** Go compares the host before it searches a chain. A client's usage is checked first too, to save its search. */
  #ownProblem(): string | undefined {
    if (this.#host !== undefined) return hostNameProblem(this.#certificate, this.#host);
    return allows(this.#certificate, USAGE.client) ? undefined : WRONG_USAGE;
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
        if (!isOther || !issuer.subject.equals(certificate.issuer)) continue;
        const problem =
          issuerProblemOf(issuer, { isAnchor: this.#anchors.has(issuer) }) ?? problemOf(issuer, this.#now);
        if (!this.#passes(problem, issuer)) continue;
        links.push({ certificate, issuer });
        reached.add(issuer);
      }
    }
    return links;
  }

  /** The result for one key holds for all certificates of its issuer. */
  async #isSigned({ certificate, issuer }: Link): Promise<boolean> {
    const known = this.#checks.find(
      (each) => each.certificate === certificate && each.issuer.subjectAndKey === issuer.subjectAndKey,
    );
    if (known !== undefined) return known.isGood;
    if (this.#checks.length >= SIGNATURES_MAX[this.#host === undefined ? 'client' : 'server']) {
      this.#problem = 'signature check attempts limit reached while verifying certificate chain';
      return false;
    }
    if (this.#slices.due()) await this.#slices.pause();
    const isGood = hasSigned(issuer, certificate);
    this.#checks.push({ certificate, issuer, isGood });
    return this.#passes(isGood ? undefined : 'verification error', issuer);
  }

  /** Returns until when a chain that continues this path is valid; undefined if there is none. */
  #goodFrom(path: readonly Certificate[]): number | undefined {
    const current = path.at(-1);
    this.#paths += 1;
    if (current === undefined || this.#paths > PATHS_MAX) return undefined;
    if (!this.#passes(pathProblemOf(current, path.slice(0, -1), this.#comparisons), current))
      return undefined;
    if (this.#anchors.has(current)) {
      const usage = USAGE[this.#host === undefined ? 'client' : 'server'];
      if (path.every((each) => allows(each, usage)))
        return Math.min(...path.map(({ notAfterMs }) => notAfterMs));
      this.#problem = WRONG_USAGE;
      return undefined;
    }
    for (const { certificate, issuer } of this.#signed) {
      const isBeyond = path.every(({ subjectAndKey }) => subjectAndKey !== issuer.subjectAndKey);
      if (certificate !== current || !isBeyond) continue;
      const untilMs = this.#goodFrom([...path, issuer]);
      if (untilMs !== undefined) return untilMs;
    }
    return undefined;
  }

  /** Returns whether the candidate issuer has no problem, and records the first one as Go does. */
  #passes(problem: string | undefined, { commonName, organizations, x509 }: Certificate): boolean {
    if (problem === undefined) return true;
    const name = (commonName || organizations[0] || `serial:${serialText(x509)}`).slice(0, NAME_CHARS_MAX);
    const cause = `because of ${JSON.stringify(`x509: ${problem}`)}`;
    this.#hint ||= ` (possibly ${cause} while trying to verify candidate authority certificate ${JSON.stringify(name)})`;
    return false;
  }
}

/** In decimal. Node writes the hexadecimal digits of a negative number after a minus sign. */
function serialText({ serialNumber }: X509Certificate): string {
  const digits = serialNumber.replace('-', '');
  return `${serialNumber.startsWith('-') ? '-' : ''}${String(BigInt(`0x${digits}`))}`;
}

function hasSigned(issuer: Certificate, certificate: Certificate): boolean {
  try {
    return certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    // An invalid curve point is not a usable key.
    return false;
  }
}

function problemOf(certificate: Certificate, now: number): string | undefined {
  const { notBeforeMs, notAfterMs } = certificate;
  if (certificate.hasUnknownCriticalExtension) return 'unhandled critical extension';
  if (!(now >= notBeforeMs && now <= notAfterMs)) {
    const [relation, limit] = now < notBeforeMs ? ['before', notBeforeMs] : ['after', notAfterMs];
    const why = `current time ${timeText(now)} is ${relation} ${timeText(limit)}`;
    return `certificate has expired or is not yet valid: ${why}`;
  }
  return certificate.hasAcceptedKey ? undefined : 'certificate has a key type or size that is not accepted';
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z');
}

/** An X.509 v1 certificate is an authority only as a trust anchor. */
function issuerProblemOf(
  { isAuthority, isOldVersion, maySignCertificates }: Certificate,
  { isAnchor }: { readonly isAnchor: boolean },
): string | undefined {
  if (!(isAuthority || isOldVersion) || !maySignCertificates) {
    return 'invalid signature: parent certificate cannot sign this kind of certificate';
  }
  return isAuthority || isAnchor ? undefined : 'certificate is not authorized to sign other certificates';
}

/** Returns why an authority may not be above these certificates, which begin with that of the peer. */
function pathProblemOf(
  { pathLengthMax, nameConstraints }: Certificate,
  below: readonly Certificate[],
  comparisons: ComparisonBudget,
): string | undefined {
  if (below.length === 0) return undefined;
  if (pathLengthMax !== undefined && below.length - 1 > pathLengthMax) {
    return 'too many intermediates for path length constraint';
  }
  if (nameConstraints === undefined) return undefined;
  const names = below.flatMap(({ alternativeNames }) => alternativeNames ?? []);
  const problem = constrainedNameProblem(nameConstraints, names, comparisons);
  return problem === undefined
    ? undefined
    : `a root or intermediate certificate is not authorized to sign for this name: ${problem}`;
}

/** `usage` is an object identifier. */
function allows({ extendedUsages }: Certificate, usage: string): boolean {
  return extendedUsages === undefined || extendedUsages.includes(usage) || extendedUsages.includes(ANY_USAGE);
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
