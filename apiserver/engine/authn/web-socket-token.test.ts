import { WEB_SOCKET_TOKEN_PREFIX } from '../../../shared/names';
import { newExchange } from '../request/testing/new-exchange';
import { whyUnauthorized } from './authenticator';
import { meantForApi } from './token-authenticator';
import { webSocketToken } from './web-socket-token';

const jane = { user: { name: 'jane', uid: '', groups: [], extra: {} } };
const known = webSocketToken(
  meantForApi(['api'], async (token) => Promise.resolve(token === 'tökén' ? jane : undefined)),
  ['api'],
);
const WEB_SOCKET = { upgrade: 'WebSocket', connection: 'keep-alive, Upgrade' };

function carrier(token: string | Buffer): string {
  return WEB_SOCKET_TOKEN_PREFIX + Buffer.from(token).toString('base64url');
}

/** The name of the user, or why there is none. */
async function outcome(protocols: string | undefined, headers: object = WEB_SOCKET): Promise<unknown> {
  const exchange = newExchange({
    headers: { ...headers, ...(protocols === undefined ? {} : { 'sec-websocket-protocol': protocols }) },
  });
  try {
    return (await known(exchange))?.user.name;
  } catch (error) {
    return whyUnauthorized(error) ?? error;
  }
}

test.each([
  ['in front of another', `${carrier('tökén')}, frames.v1`],
  ['behind others', `frames.v1,frames.v2 ,  ${carrier('tökén')}`],
])('a subprotocol %s makes its bearer known', async (_where, protocols) => {
  expect(await outcome(protocols)).toBe('jane');
});

test.each([
  ['is unknown', `${carrier('other')}, x`, 'no authenticator knows the bearer token'],
  ['stands alone', carrier('tökén'), 'the subprotocol with the token is the only one'],
  ['comes twice', `${carrier('tökén')}, x, ${carrier('tökén')}`, 'several subprotocols carry a token'],
  ['is padded', `${carrier('a')}==, x`, 'the token in the subprotocol is not base64url'],
  ['is cut off', `${carrier('abc')}d, x`, 'the token in the subprotocol is not base64url'],
  ['is no text', `${carrier(Buffer.from([0xff, 0xfe]))}, x`, 'the token in the subprotocol is not UTF-8'],
])('a token that %s is refused', async (_what, protocols, why) => {
  expect(await outcome(protocols)).toBe(why);
});

test('a WebSocket without a token, or with an empty one, is left to others', async () => {
  expect(await outcome(undefined)).toBeUndefined();
  expect(await outcome('frames.v1')).toBeUndefined();
  expect(await outcome(`${WEB_SOCKET_TOKEN_PREFIX}, frames.v1`)).toBeUndefined();
});

test('a request that is no WebSocket is left to others, whatever it offers', async () => {
  const protocols = `${carrier('tökén')}, frames.v1`;
  expect(await outcome(protocols, {})).toBeUndefined();
  expect(await outcome(protocols, { upgrade: 'spdy/3.1', connection: 'upgrade' })).toBeUndefined();
});
