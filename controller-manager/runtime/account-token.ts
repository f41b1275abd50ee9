import { RESOURCE } from '../../shared/api/resource-names';
import type { TokenRequest } from '../../shared/api/types/authentication-v1';
import type { Client } from '../../shared/client/client';
import type { ObjectRef, TokenSource } from '../../shared/client/options';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import type { Sent } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
const LIFETIME_SECONDS = 3_600;
const SECOND_MS = 1_000;
/** A token is replaced well before it expires, so that a short outage does no harm. */
const USED_PART_OF_LIFETIME = 0.75;

interface Held {
  readonly token: Promise<string>;
  readonly untilMs: number;
}

/** Returns tokens of a service account, which is created if missing. Concurrent callers share one request (single-flight). */
export function accountTokenSource(
  client: Client,
  account: ObjectRef & { readonly namespace: string },
  clock: Clock = monotonicClock,
): TokenSource {
  let held: Held | undefined;
  let value = '';
  const request = async (): Promise<string> => {
    try {
      value = await requestToken(client, account);
      return value;
    } catch (error) {
      held = undefined;
      throw error;
    }
  };
  return {
    token: async () => {
      if (held === undefined || clock.now() >= held.untilMs) {
        const untilMs = clock.now() + LIFETIME_SECONDS * SECOND_MS * USED_PART_OF_LIFETIME;
        held = { token: request(), untilMs };
      }
      return held.token;
    },
    refused: (token) => {
      if (token === value) held = undefined;
    },
  };
}

async function requestToken(
  client: Client,
  account: ObjectRef & { readonly namespace: string },
): Promise<string> {
  const place = { ...account, subresource: 'token' };
  const body: Sent<TokenRequest> = {
    apiVersion: apiVersionOf({ group: GROUP.authentication, version: 'v1' }),
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: LIFETIME_SECONDS },
  };
  try {
    return tokenIn(await client.createSubresource<TokenRequest>(RESOURCE.serviceaccounts, place, body));
  } catch (error) {
    if (!hasCode(error, 404)) throw error;
  }
  await createAccount(client, account);
  return tokenIn(await client.createSubresource<TokenRequest>(RESOURCE.serviceaccounts, place, body));
}

async function createAccount(
  client: Client,
  { namespace, name }: ObjectRef & { readonly namespace: string },
): Promise<void> {
  try {
    await client.create(RESOURCE.serviceaccounts, { metadata: { namespace, name } });
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  }
}

function tokenIn({ status }: TokenRequest): string {
  if (status?.token === undefined) throw new Error('the server gave no token for a service account');
  return status.token;
}
