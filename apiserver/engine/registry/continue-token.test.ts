import { GROUP } from '../../../shared/names';
import { decodeContinueToken, encodeContinueToken } from './continue-token';

const FORMAT = `${GROUP.meta}/v1`;

function tokenOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

test('a token round-trips', () => {
  const token = { revision: 5, after: 'default/a' };
  expect(decodeContinueToken(encodeContinueToken(token))).toEqual(token);
});

test.each([
  ['/default/a\0', 5, { revision: 5, after: 'default/a' }],
  ['default/a\0', -7, { revision: undefined, after: 'default/a' }],
])('a token with start %j and version %d decodes as in v1.21', (start, rv, token) => {
  expect(decodeContinueToken(tokenOf({ v: FORMAT, rv, start }))).toEqual(token);
});

test.each(['/', '//a', '/a/', '/a//b', 'a/../b', './a', '/..', '//'])(
  'a token that begins at %j is refused',
  (start) => {
    expect(() => decodeContinueToken(tokenOf({ v: FORMAT, rv: 5, start }))).toThrow(
      `continue key is not valid: ${start}`,
    );
  },
);

test.each([
  ['x', 'illegal base64 data at input byte 0'],
  ['YQ=', 'illegal base64 data at input byte 2'],
  ['YQ', "invalid character 'a' looking for beginning of value"],
  ['', 'unexpected end of JSON input'],
  [tokenOf([]), 'json: cannot unmarshal array into Go value of type etcd3.continueToken'],
  [tokenOf(5), 'json: cannot unmarshal number into Go value of type etcd3.continueToken'],
  [
    tokenOf({ v: 'meta.k8s.io/v1', rv: '5', start: 'x' }),
    'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
  ],
  [
    tokenOf({ rv: 1.5, v: 7 }),
    'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64',
  ],
  [
    tokenOf({ start: ['x'], v: 7 }),
    'json: cannot unmarshal array into Go struct field continueToken.start of type string',
  ],
  [tokenOf({ v: null, rv: null }), 'server does not recognize this encoded version ""'],
  [tokenOf(null), 'server does not recognize this encoded version ""'],
])('the token %j is refused with the message of v1.21', (token, why) => {
  expect(() => decodeContinueToken(token)).toThrow(
    `invalid continue token: continue key is not valid: ${why}`,
  );
});
