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
  readonly emails: readonly string[];
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** Address and mask, 8 or 32 bytes. */
  readonly networks: readonly Buffer[];
}

/** Comparisons for one chain, as in Go; names and limits are multiplied. */
const COMPARISONS_MAX = 250_000;

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
  const domain = (name: string): string => {
    if (name !== '' && labelsOf(name.replace(/^\./u, '')) === undefined) {
      throw new Error('a malformed name constraint');
    }
    return name;
  };
  return {
    emails: textsOf(bases, GENERAL_NAME.email).map((name) => (name.includes('@') ? name : domain(name))),
    dnsNames: textsOf(bases, GENERAL_NAME.dns).map(domain),
    uris: textsOf(bases, GENERAL_NAME.uri).map(domain),
    networks: contentsOf(bases, GENERAL_NAME.ip).map((bytes) => {
      if (bytes.length !== 8 && bytes.length !== 32) throw new Error('a malformed name constraint');
      if (!isContiguous(bytes.subarray(bytes.length / 2))) throw new Error('a malformed name constraint');
      return bytes;
    }),
  };
}

function isContiguous(mask: Buffer): boolean {
  return /^1*0*$/u.test([...mask].map((byte) => byte.toString(2).padStart(8, '0')).join(''));
}

/**
 * Returns why the constraints do not allow the names of the certificates below; undefined if they do. The rules are those of Go: a name
 * of a constrained kind must match a permitted subtree, if there is one, and no excluded one.
 */
export function constrainedNameProblem(
  { permitted, excluded }: NameConstraints,
  below: readonly AlternativeNames[],
): string | undefined {
  let comparisons = 0;
  const problemOf = <Name, Limit>(kind: string, names: readonly Name[], rules: Rules<Name, Limit>) => {
    for (const name of names) {
      comparisons += rules.excluded.length + rules.permitted.length;
      if (comparisons > COMPARISONS_MAX) return 'too many comparisons of name constraints';
      const text = `${kind} ${JSON.stringify(rules.text(name))}`;
      const isUnreadable = rules.permitted.length + rules.excluded.length > 0 && !rules.isReadable(name);
      if (isUnreadable) return `${text} cannot be matched against constraints`;
      if (rules.excluded.some((limit) => rules.matches(name, limit, true))) return `${text} is excluded`;
      const isPermitted =
        rules.permitted.length === 0 || rules.permitted.some((limit) => rules.matches(name, limit, false));
      if (!isPermitted) return `${text} is not permitted by any constraint`;
    }
    return undefined;
  };
  const lists = <Key extends keyof Subtrees>(key: Key) => ({
    permitted: permitted[key],
    excluded: excluded[key],
  });
  for (const { emails, dnsNames, uris, addresses } of below) {
    const problem =
      problemOf('email address', emails, { ...EMAIL, ...lists('emails') }) ??
      problemOf('DNS name', dnsNames, { ...DNS, ...lists('dnsNames') }) ??
      problemOf('URI', uris, { ...URI, ...lists('uris') }) ??
      problemOf('IP address', addresses, { ...ADDRESS, ...lists('networks') });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface NameKind<Name, Limit> {
  readonly text: (name: Name) => string;
  readonly isReadable: (name: Name) => boolean;
  readonly matches: (name: Name, limit: Limit, isExcluded: boolean) => boolean;
}

interface Rules<Name, Limit> extends NameKind<Name, Limit> {
  readonly permitted: readonly Limit[];
  readonly excluded: readonly Limit[];
}

const EMAIL: NameKind<string, string> = {
  text: (name) => name,
  isReadable: (name) => /^[^@]+@[^@]+$/u.test(name) && labelsOf(domainOf(name)) !== undefined,
  matches: (name, limit, isExcluded) => {
    if (!limit.includes('@')) return isBelow(domainOf(name), limit, isExcluded);
    const localOf = (address: string): string => address.slice(0, address.lastIndexOf('@'));
    return localOf(name) === localOf(limit) && domainOf(name).toLowerCase() === domainOf(limit).toLowerCase();
  },
};

const DNS: NameKind<string, string> = {
  text: (name) => name,
  isReadable: (name) => labelsOf(name) !== undefined,
  matches: isBelow,
};

const URI: NameKind<string, string> = {
  text: (name) => name,
  isReadable: (name) => labelsOf(uriHost(name)) !== undefined && isIP(uriHost(name)) === 0,
  matches: (name, limit, isExcluded) => isBelow(uriHost(name), limit, isExcluded),
};

const ADDRESS: NameKind<Buffer, Buffer> = {
  text: (bytes) => bytes.toString('hex'),
  isReadable: () => true,
  matches: (bytes, limit) =>
    limit.length === 2 * bytes.length &&
    bytes.every((byte, at) => {
      const mask = limit[bytes.length + at] ?? 0;
      return (byte & mask) === ((limit[at] ?? 0) & mask);
    }),
};

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** The host of `scheme://user@host:port/…`; empty if there is none. An IPv6 address has its brackets. */
function uriHost(uri: string): string {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/iu.exec(uri)?.[1] ?? '';
  return authority.replace(/^.*@/u, '').replace(/:\d*$/u, '');
}

/**
 * Returns whether the domain is in the subtree of the limit. An empty limit matches all names; one with a leading dot matches only names
 * with more labels. The first label of an excluded wildcard matches any label.
 */
function isBelow(domain: string, limit: string, isExcluded: boolean): boolean {
  if (limit === '') return true;
  const needsMore = limit.startsWith('.');
  const labels = labelsOf(domain) ?? [];
  const wanted = labelsOf(needsMore ? limit.slice(1) : limit) ?? [];
  if (labels.length < wanted.length || (needsMore && labels.length === wanted.length)) return false;
  return wanted.every((label, at) => {
    const own = labels[at] ?? '';
    if (isExcluded && own === '*' && at === labels.length - 1) return true;
    return label.toLowerCase() === own.toLowerCase();
  });
}

/** Returns the labels from the last to the first; undefined for a name that has an empty label or other characters than visible ASCII. */
function labelsOf(domain: string): readonly string[] | undefined {
  const labels = domain.split('.').toReversed();
  return labels.every((label) => /^[!-~]+$/u.test(label)) ? labels : undefined;
}
