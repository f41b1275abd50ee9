import { isUtf8 } from 'node:buffer';
import { WEB_SOCKET_TOKEN_PREFIX } from '../../../shared/names';
import { isWebSocketRequest } from '../request/web-socket';
import type { Authenticator } from './authenticator';
import { unauthorized } from './authenticator';
import { bearerOf } from './bearer-token';
import type { TokenAuthenticator } from './token-authenticator';

/**
 * Authenticates WebSockets by a bearer token among their subprotocols, because browsers cannot send other headers. Returns undefined without
 * such a subprotocol. The listener never selects it, so that the token is not echoed in the response.
 */
export function webSocketToken(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return async (exchange) => {
    const { headers } = exchange;
    if (!isWebSocketRequest(headers)) return undefined;
    const token = protocolTokenOf(headers['sec-websocket-protocol']);
    return token === undefined ? undefined : bearerOf(exchange, { tokens, token, audiences });
  };
}

/** Further subprotocols are ignored. One with a token may be longer than other lists. */
const PROTOCOLS_MAX = 100;
const BASE64URL = /^[\w-]*$/;

/**
 * Parses the token in a list of subprotocols. An empty one counts as none. Throws Unauthorized for two tokens, for one that is not base64url
 * of UTF-8 text, and for one without another subprotocol, which the browser needs for the negotiation.
 */
function protocolTokenOf(header: string | undefined): string | undefined {
  const offered = (header ?? '').split(',', PROTOCOLS_MAX).map((each) => each.trim());
  const [carrier, another] = offered.filter((each) => each.startsWith(WEB_SOCKET_TOKEN_PREFIX));
  if (carrier === undefined) return undefined;
  if (another !== undefined) throw unauthorized('several subprotocols carry a token');
  const encoded = carrier.slice(WEB_SOCKET_TOKEN_PREFIX.length);
  // Four characters encode three bytes; a single remaining character is invalid.
  if (!BASE64URL.test(encoded) || encoded.length % 4 === 1) {
    throw unauthorized('the token in the subprotocol is not base64url');
  }
  const token = Buffer.from(encoded, 'base64url');
  if (!isUtf8(token)) throw unauthorized('the token in the subprotocol is not UTF-8');
  if (token.length === 0) return undefined;
  if (offered.length === 1) throw unauthorized('the subprotocol with the token is the only one');
  return token.toString('utf8');
}
