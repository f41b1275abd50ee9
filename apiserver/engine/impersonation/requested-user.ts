import { accountGroups } from '../../../shared/meta/account-user-name';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { GROUP, SERVICE_ACCOUNT } from '../../../shared/names';
import { userExtra } from '../authn/user-extra';
import type { Exchange, UserInfo } from '../request/exchange';
import { headersWithPrefix, headerValues, unescapedKey } from '../request/header-values';

const IMPERSONATE_HEADER = {
  user: 'impersonate-user',
  group: 'impersonate-group',
  /** Followed by the key, percent-encoded where a header's name could not hold it. */
  extraPrefix: 'impersonate-extra-',
} as const;

/** One part of somebody else that a request wants to take on; each has to be allowed. */
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

/** What a request asks for in its headers. */
export interface RequestedUser {
  /** Whether it says who it wants to be, and not only in which groups. */
  readonly hasUser: boolean;
  readonly guises: readonly Guise[];
  /** As the guises say it, with the groups that go without saying for a service account. */
  readonly user: UserInfo;
}

/** True for the lower-case name of a header that is about impersonation. */
export function isImpersonationHeader(name: string): boolean {
  return (
    name === IMPERSONATE_HEADER.user ||
    name === IMPERSONATE_HEADER.group ||
    name.startsWith(IMPERSONATE_HEADER.extraPrefix)
  );
}

/** Undefined for a request that wants to be nobody else. An empty user name counts as none. */
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

/** Nearly all requests carry nothing of the kind. */
function hasImpersonation({ headers }: Pick<Exchange, 'headers'>): boolean {
  for (const name in headers) if (isImpersonationHeader(name)) return true;
  return false;
}

function guise(kind: Guise['kind'], parts: Pick<Guise, 'resource' | 'name'> & Partial<Guise>): Guise {
  return { kind, apiGroup: '', apiVersion: '', subresource: '', namespace: '', ...parts };
}

/** The name of a service account says whose it is; one that is malformed is the name of some user. */
function accountOf(user: string): Guise | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT.userPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(SERVICE_ACCOUNT.userPrefix.length).split(':');
  if (more.length > 0) return undefined;
  if (dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0)
    return undefined;
  return guise('ServiceAccount', { resource: 'serviceaccounts', namespace, name });
}
