import { WEB_SOCKET_TOKEN_PREFIX } from '../../../../shared/names';
import { StatusError } from '../../../../shared/errors/status-error';
import { repeatedKeys } from '../../../../shared/meta/repeated-keys';
import { deepEqual, isJsonObject } from '../../../../shared/object/clone';
import { TOKEN_ALGORITHMS, tokenKeysOfJwk } from '../../../../shared/tokens/token-key';
import { bearerTokenOf } from '../../../engine/authn/bearer-token';
import { webSocketToken } from '../../../engine/authn/web-socket-token';
import { requestedUser } from '../../../engine/impersonation/requested-user';
import { resultIn } from '../../../kubernetes/admission/webhooks/review';
import { decodeEntry, PICKED_BYTES_MIN } from '../../../engine/watch-cache/state/entry-codec';
import type { CachedResource } from '../../../engine/watch-cache/state/entry';
import { newExchange } from '../../../engine/request/testing/new-exchange';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateJson } from '../mutators/mutate-json';
import { holds, refusableByError } from '../refusable';
import type { Target } from '../target';

/** What comes from other programs: headers about users, answers of webhooks and issuers, and what lies in the store. */
export const REMOTE_TARGETS: readonly Target[] = [
  {
    name: 'user-headers',
    corpus: 'user-headers',
    words: [
      'Impersonate-User: ',
      'Impersonate-Group: ',
      'Impersonate-Extra-',
      '%2f',
      '%',
      '%zz',
      'Authorization: Bearer ',
      'Sec-WebSocket-Protocol: ',
      WEB_SOCKET_TOKEN_PREFIX,
      'system:serviceaccount:a:b',
      '\n',
      '__proto__',
      ', ',
    ],
    mutators: [mutateBytes],
    runs: 2_000,
    open: () => ({ check: checkHeaders }),
  },
  {
    name: 'webhook-answer',
    corpus: 'webhook-answer',
    words: [
      'uid',
      'allowed',
      'patch',
      'patchType',
      'JSONPatch',
      'W10=',
      'status',
      'code',
      'warnings',
      'auditAnnotations',
    ],
    mutators: [mutateJson, mutateBytes],
    runs: 800,
    open: () => ({ check: checkAnswer }),
  },
  {
    name: 'json-web-key',
    corpus: 'json-web-key',
    words: [
      'RSA',
      'EC',
      'OKP',
      'oct',
      'P-256',
      'P-521',
      'secp256k1',
      'sig',
      'enc',
      'RS256',
      'ES256',
      'AQAB',
      'kid',
      'd',
      'k',
      'key_ops',
      'x5c',
    ],
    mutators: [mutateJson],
    runs: 600,
    open: () => ({ check: checkJsonWebKey }),
  },
  {
    name: 'stored-object',
    corpus: 'stored-object',
    words: [
      '"metadata":{',
      '"resourceVersion":"1"',
      '"kind":"Pod",',
      '"apiVersion":"v1",',
      '{}',
      'null',
      '"labels":{"__proto__":"a"}',
    ],
    mutators: [mutateBytes, mutateJson],
    runs: 2_000,
    open: () => ({ check: checkStored }),
  },
];

/** The input is lines of `Name: value`, one character for each byte, as HTTP hands them over. */
async function checkHeaders(input: Buffer): Promise<void> {
  const lines = input
    .toString('latin1')
    .split('\n')
    .map(
      (line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()] as const,
    )
    .filter(([name]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name));
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]));
  const exchange = newExchange({
    headers: { upgrade: 'websocket', connection: 'upgrade', ...headers },
    rawHeaders: lines.flat(),
  });
  const requested = requestedUser(exchange);
  if (requested !== undefined) {
    const asked = requested.guises.map(({ kind, subresource, name }) =>
      JSON.stringify([kind, subresource, name]),
    );
    const { extra, groups } = requested.user;
    for (const [key, values] of Object.entries(extra)) {
      for (const value of values)
        holds(
          asked.includes(JSON.stringify(['UserExtra', key, value])),
          'every extra is asked for',
          key,
          value,
          asked,
        );
    }
    const isAccount = requested.guises.some(({ kind }) => kind === 'ServiceAccount');
    holds(
      isAccount || groups.every((group) => asked.includes(JSON.stringify(['Group', '', group]))),
      'every group is asked for',
      groups,
      asked,
    );
  }
  const token = bearerTokenOf(exchange.headers.authorization);
  holds(token === undefined || (token !== '' && !token.includes(' ')), 'a token is a word', token);
  await checkProtocolToken(exchange);
}

async function checkProtocolToken(exchange: ReturnType<typeof newExchange>): Promise<void> {
  const seen: string[] = [];
  const authenticate = webSocketToken(async (question) => {
    seen.push(question.token);
    return Promise.resolve({ user: { name: 'a', uid: '', groups: [], extra: {} }, audiences: [] });
  }, []);
  try {
    await authenticate(exchange);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 401) throw error;
  }
  const protocols = exchange.headers['sec-websocket-protocol'] ?? '';
  for (const token of seen) {
    holds(
      token !== '' && protocols.includes(Buffer.from(token).toString('base64url').slice(0, -1)),
      'the token is the one that was sent',
      token,
      protocols,
    );
  }
}

function checkAnswer(input: Buffer): void {
  for (const version of ['v1', 'v1beta1'] as const) {
    for (const type of ['mutating', 'validating'] as const) {
      const result = refusableByError(() => resultIn(input, { uid: 'uid', version }, type))?.value;
      if (result === undefined) continue;
      const { response } = JSON.parse(input.toString('utf8')) as {
        readonly response: { readonly allowed?: unknown };
      };
      holds(result.isAllowed === (response.allowed === true), 'what is allowed was said to be', response);
      holds(type === 'mutating' || result.patch === undefined, 'who validates changes nothing', result);
      holds(
        [...result.warnings, ...Object.values(result.auditAnnotations)].every(
          (each) => typeof each === 'string',
        ),
        'texts are texts',
        result,
      );
    }
  }
}

async function checkJsonWebKey(input: Buffer): Promise<void> {
  const jwk = refusableByJson(input);
  if (!isJsonObject(jwk)) return;
  for (const { publicKey, algorithm } of await tokenKeysOfJwk(jwk, TOKEN_ALGORITHMS)) {
    holds(publicKey.type === 'public', 'a key that verifies is public', publicKey.type);
    holds(
      (publicKey.asymmetricKeyType === 'rsa') === /^[RP]S/.test(algorithm),
      'a key verifies with algorithms of its kind',
      algorithm,
      publicKey.asymmetricKeyType,
    );
  }
}

function refusableByJson(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString('utf8'));
  } catch {
    return undefined;
  }
}

const RESOURCE: CachedResource = {
  name: 'pods',
  keyPrefix: 'core/pods/',
  namespaced: true,
  fieldPaths: ['spec.nodeName', 'status.phase'],
  indexedFields: ['spec.nodeName'],
};
const REVISION = 7;

/** What cannot be decoded is left out of the cache, whatever was thrown. */
function checkStored(input: Buffer): void {
  let bytes: Buffer;
  try {
    ({ bytes } = decodeEntry(RESOURCE, { key: 'default/a', plain: input, revision: REVISION }));
  } catch {
    return;
  }
  const text = input.toString('utf8');
  // Only the server writes there, and it repeats no keys.
  if (repeatedKeys(text, 1).length > 0) return;
  // Of a long one only what the cache looks at is read (ADR 38).
  if (input.length >= PICKED_BYTES_MIN && refusableByJson(input) === undefined) return;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = JSON.parse(text) as Record<string, object>;
  const shown = JSON.parse(`{${bytes.toString('utf8')}`) as unknown;
  holds(
    deepEqual(shown, { ...rest, metadata: { ...rest['metadata'], resourceVersion: String(REVISION) } }),
    'an entry is what is stored, with its version',
    text,
    bytes,
  );
}
