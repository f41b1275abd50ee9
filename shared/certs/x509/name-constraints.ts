import { isIP } from 'node:net';
import { DER_TAG, derChildren, derContextTag, derValues } from '../der-reader';
import type { DerValue } from '../der-reader';
import { GENERAL_NAME } from '../signed-certificate';
import type { AlternativeNames } from './alternative-names';
import { contentsOf, textsOf } from './alternative-names';

/** Limits of an authority on the names of the certificates below it. */
export interface NameConstraints {
  readonly permitted: Subtrees;
  readonly excluded: Subtrees;
  /** Whether it limits names of other kinds, such as directory names; such a critical extension is not supported. */
  readonly hasOtherKinds: boolean;
}

interface Subtrees {
  readonly emails: readonly (Mailbox | Domain)[];
  readonly dnsNames: readonly Domain[];
  readonly uris: readonly Domain[];
  /** Address and mask, 8 or 32 bytes. */
  readonly networks: readonly Buffer[];
}

/** A domain that was parsed once, since names and limits are multiplied. */
interface Domain {
  /** From the last to the first, in lower case. */
  readonly labels: readonly string[];
  /** Whether a limit has a leading dot: it matches only names with more labels. */
  readonly needsMore: boolean;
}

interface Mailbox {
  readonly local: string;
  /** Undefined where the limit has no valid domain, so that it matches no name. */
  readonly domain: Domain | undefined;
}

/** Comparisons left. */
export interface ComparisonBudget {
  left: number;
}

/** Returns the comparisons for one certificate, as in Go: names and limits are multiplied. */
export function comparisonBudget(): ComparisonBudget {
  return { left: 250_000 };
}

/** Parses the value of the extension. Throws an Error if it is malformed. */
export function nameConstraintsOf(value: Buffer): NameConstraints {
  const [whole] = derValues(value);
  const lists = derChildren(whole, DER_TAG.sequence);
  if (lists.length === 0) throw new Error('empty name constraints');
  const [permitted, excluded] = [0, 1].map((kind) => {
    const list = lists.find(({ tag }) => tag === derContextTag(kind));
    return list === undefined ? [] : derValues(list.content).map(baseOf);
  });
  return {
    permitted: subtreesOf(permitted ?? []),
    excluded: subtreesOf(excluded ?? []),
    hasOtherKinds: [...(permitted ?? []), ...(excluded ?? [])].some(({ tag }) => !KNOWN_TAGS.has(tag)),
  };
}

const KNOWN_TAGS: ReadonlySet<number> = new Set(Object.values(GENERAL_NAME).map((kind) => 0x80 | kind));

/** GeneralSubtree ::= SEQUENCE { base GeneralName, … }. */
function baseOf(subtree: DerValue): DerValue {
  const [base] = derChildren(subtree, DER_TAG.sequence);
  if (base === undefined) throw new Error('a malformed name constraint');
  return base;
}

function subtreesOf(bases: readonly DerValue[]): Subtrees {
  return {
    emails: textsOf(bases, GENERAL_NAME.email).map((name) =>
      name.includes('@') ? mailboxOf(name) : limitOf(name),
    ),
    dnsNames: textsOf(bases, GENERAL_NAME.dns).map(limitOf),
    uris: textsOf(bases, GENERAL_NAME.uri).map(limitOf),
    networks: contentsOf(bases, GENERAL_NAME.ip).map((bytes) => {
      if (bytes.length !== 8 && bytes.length !== 32) throw new Error('a malformed name constraint');
      if (!isContiguous(bytes.subarray(bytes.length / 2))) throw new Error('a malformed name constraint');
      return bytes;
    }),
  };
}

/** An empty limit matches all names. */
function limitOf(name: string): Domain {
  if (name === '') return { labels: [], needsMore: false };
  const needsMore = name.startsWith('.');
  const domain = domainOf(needsMore ? name.slice(1) : name);
  if (domain === undefined) throw new Error('a malformed name constraint');
  return { ...domain, needsMore };
}

function isContiguous(mask: Buffer): boolean {
  return /^1*0*$/u.test([...mask].map((byte) => byte.toString(2).padStart(8, '0')).join(''));
}

/**
 * Returns why the constraints do not allow the names of the certificates below; undefined if they do. The rules are those of Go: a name
 * of a constrained kind must match a permitted subtree, if there is one, and no excluded one.
 *
 * @param budget - That of all chains of one certificate; the comparisons made are subtracted.
 */
export function constrainedNameProblem(
  { permitted, excluded }: NameConstraints,
  below: readonly AlternativeNames[],
  budget: ComparisonBudget,
): string | undefined {
  const problemOf = <Name, Parsed, Limit>(
    what: string,
    names: readonly Name[],
    { kind, permitted: some, excluded: none }: Rules<Name, Parsed, Limit>,
  ): string | undefined => {
    if (some.length + none.length === 0) return undefined;
    for (const name of names) {
      budget.left -= none.length + some.length;
      if (budget.left < 0) return 'too many comparisons of name constraints';
      const problem = (why: string): string => `${what} ${JSON.stringify(kind.text(name))} ${why}`;
      const parsed = kind.parse(name);
      if (parsed === undefined) return problem('cannot be matched against constraints');
      if (none.some((limit) => kind.matches(parsed, limit, true))) return problem('is excluded');
      const isPermitted = some.length === 0 || some.some((limit) => kind.matches(parsed, limit, false));
      if (!isPermitted) return problem('is not permitted by any constraint');
    }
    return undefined;
  };
  const lists = <Key extends keyof Subtrees>(key: Key) => ({
    permitted: permitted[key],
    excluded: excluded[key],
  });
  for (const { emails, dnsNames, uris, addresses } of below) {
    const problem =
      problemOf('email address', emails, { kind: EMAIL, ...lists('emails') }) ??
      problemOf('DNS name', dnsNames, { kind: DNS, ...lists('dnsNames') }) ??
      problemOf('URI', uris, { kind: URI, ...lists('uris') }) ??
      problemOf('IP address', addresses, { kind: ADDRESS, ...lists('networks') });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface NameKind<Name, Parsed, Limit> {
  readonly text: (name: Name) => string;
  /** Returns undefined for a name that cannot be compared. */
  readonly parse: (name: Name) => Parsed | undefined;
  readonly matches: (name: Parsed, limit: Limit, isExcluded: boolean) => boolean;
}

interface Rules<Name, Parsed, Limit> {
  readonly kind: NameKind<Name, Parsed, Limit>;
  readonly permitted: readonly Limit[];
  readonly excluded: readonly Limit[];
}

const EMAIL: NameKind<string, { readonly local: string; readonly domain: Domain }, Mailbox | Domain> = {
  text: (name) => name,
  parse: (name) => {
    const { local, domain } = mailboxOf(name);
    return domain === undefined || !/^[^@]+@[^@]+$/u.test(name) ? undefined : { local, domain };
  },
  matches: ({ local, domain }, limit, isExcluded) => {
    if ('labels' in limit) return isBelow(domain, limit, isExcluded);
    return local === limit.local && limit.domain !== undefined && isEqual(domain, limit.domain);
  },
};

const DNS: NameKind<string, Domain, Domain> = {
  text: (name) => name,
  parse: domainOf,
  matches: isBelow,
};

const URI: NameKind<string, Domain, Domain> = {
  text: (name) => name,
  parse: (name) => (isIP(uriHost(name)) === 0 ? domainOf(uriHost(name)) : undefined),
  matches: isBelow,
};

const ADDRESS: NameKind<Buffer, Buffer, Buffer> = {
  text: (bytes) => bytes.toString('hex'),
  parse: (bytes) => bytes,
  matches: (bytes, limit) =>
    limit.length === 2 * bytes.length &&
    bytes.every((byte, at) => {
      const mask = limit[bytes.length + at] ?? 0;
      return (byte & mask) === ((limit[at] ?? 0) & mask);
    }),
};

function mailboxOf(address: string): Mailbox {
  const at = address.lastIndexOf('@');
  return { local: address.slice(0, at), domain: domainOf(address.slice(at + 1)) };
}

/** The host of `scheme://user@host:port/…`; empty if there is none. An IPv6 address has its brackets. */
function uriHost(uri: string): string {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/iu.exec(uri)?.[1] ?? '';
  return authority.replace(/^.*@/u, '').replace(/:\d*$/u, '');
}

/** Returns whether the domain is in the subtree of the limit. The first label of an excluded wildcard matches any label. */
function isBelow({ labels }: Domain, limit: Domain, isExcluded: boolean): boolean {
  if (labels.length < limit.labels.length) return false;
  if (limit.needsMore && labels.length === limit.labels.length) return false;
  return limit.labels.every(
    (label, at) => label === labels[at] || (isExcluded && labels[at] === '*' && at === labels.length - 1),
  );
}

function isEqual({ labels }: Domain, other: Domain): boolean {
  return labels.length === other.labels.length && labels.every((label, at) => label === other.labels[at]);
}

/** Returns undefined for a name that has an empty label or other characters than visible ASCII. */
function domainOf(name: string): Domain | undefined {
  const labels = name.toLowerCase().split('.').toReversed();
  return labels.every((label) => /^[!-~]+$/u.test(label)) ? { labels, needsMore: false } : undefined;
}
