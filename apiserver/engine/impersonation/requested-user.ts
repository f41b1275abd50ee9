import { accountGroups } from '../../../shared/meta/account-user-name';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { GROUP, SERVICE_ACCOUNT } from '../../../shared/names';
import { userExtra } from '../authn/user-extra';
import type { Exchange, UserInfo } from '../request/exchange';
import { headersWithPrefix, headerValues, unescapedKey } from '../request/header-values';

const IMPERSONATE_HEADER = {
  user: 'impersonate-user',
  group: 'impersonate-group',
  /** Followed by the percent-encoded key. */
  extraPrefix: 'impersonate-extra-',
} as const;

/** One part of the requested identity, which must be allowed by itself. */
export interface Guise {
  readonly kind: 'User' | 'ServiceAccount' | 'Group' | 'UserExtra';
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  /** The key of an extra; empty for the others. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The identity that the headers of a request ask for. */
export interface RequestedUser {
  /** Whether the headers name a user, and not only groups or extras. */
  readonly hasUser: boolean;
  readonly guises: readonly Guise[];
  /** The requested user; a service account without requested groups has its default groups. */
  readonly user: UserInfo;
}

/** Returns whether a lower-case header name is an impersonation header. */
export function isImpersonationHeader(name: string): boolean {
  return (
    name === IMPERSONATE_HEADER.user ||
    name === IMPERSONATE_HEADER.group ||
    name.startsWith(IMPERSONATE_HEADER.extraPrefix)
  );
}

/** Parses the impersonation headers; undefined if there are none. An empty user name counts as none. */
export function requestedUser(exchange: Pick<Exchange, 'headers' | 'rawHeaders'>): RequestedUser | undefined {
  if (!hasImpersonation(exchange)) return undefined;
  const [name = ''] = headerValues(exchange, IMPERSONATE_HEADER.user);
  const groups = headerValues(exchange, IMPERSONATE_HEADER.group);
  const extras = headersWithPrefix(exchange, IMPERSONATE_HEADER.extraPrefix).map(
    ([key, value]) => [unescapedKey(key), value] as const,
  );
  const account = accountOf(name);
  const guises = [
    ...(name === '' ? [] : [account ?? guise('User', { resource: 'users', name })]),
    ...groups.map((group) => guise('Group', { resource: 'groups', name: group })),
    ...extras.map(([key, value]) =>
      guise('UserExtra', {
        apiGroup: GROUP.authentication,
        apiVersion: 'v1',
        resource: 'userextras',
        subresource: key,
        name: value,
      }),
    ),
  ];
  if (guises.length === 0) return undefined;
  const ofAccount = account === undefined ? [] : accountGroups(account.namespace);
  return {
    hasUser: name !== '',
    guises,
    user: { name, uid: '', groups: groups.length > 0 ? groups : ofAccount, extra: userExtra(extras) },
  };
}

/** A fast check, because nearly all requests have no such header. */
function hasImpersonation({ headers }: Pick<Exchange, 'headers'>): boolean {
  for (const name in headers) if (isImpersonationHeader(name)) return true;
  return false;
}

function guise(kind: Guise['kind'], parts: Pick<Guise, 'resource' | 'name'> & Partial<Guise>): Guise {
  return { kind, apiGroup: '', apiVersion: '', subresource: '', namespace: '', ...parts };
}

/** Parses the user name of a service account; undefined if malformed, which makes it an ordinary user. */
function accountOf(user: string): Guise | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT.userPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(SERVICE_ACCOUNT.userPrefix.length).split(':');
  if (more.length > 0) return undefined;
  if (dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0)
    return undefined;
  return guise('ServiceAccount', { resource: 'serviceaccounts', namespace, name });
}
