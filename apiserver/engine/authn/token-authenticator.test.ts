import { USER_GROUP } from '../../../shared/names';
import { unauthorized } from './authenticator';
import type { TokenAuthenticator } from './token-authenticator';
import { firstTokenOf, meantForApi, tokenReviewer } from './token-authenticator';

const SIGNAL = new AbortController().signal;
const jane = { user: { name: 'jane', uid: '', groups: [], extra: {} } };
const knows = (token: string): TokenAuthenticator =>
  meantForApi(['api', 'web'], async (asked) => Promise.resolve(asked === token ? jane : undefined));
const refuses =
  (why: string): TokenAuthenticator =>
  async () =>
    Promise.reject(unauthorized(why));

test('a token without an audience is valid for the audiences of the API and no others', async () => {
  const known = knows('t');
  expect(await known({ token: 't', audiences: ['x', 'web', 'api'] }, SIGNAL)).toEqual({
    ...jane,
    audiences: ['web', 'api'],
  });
  expect(await known({ token: 't', audiences: ['x'] }, SIGNAL)).toBeUndefined();
});

test('a token refused by one method may be accepted by another; if none accepts it, all reasons are reported', async () => {
  const question = { token: 't', audiences: ['api'] };
  const some = firstTokenOf([refuses('a'), knows('t')]);
  expect(await some(question, SIGNAL)).toMatchObject(jane);
  const review = tokenReviewer(firstTokenOf([refuses('a'), knows('other'), refuses('b')]));
  expect(await review(question, SIGNAL)).toEqual({ isKnown: false, why: '[invalid bearer token, a, b]' });
});

test('a review answers as a request would, and a defect is none', async () => {
  const question = { token: 't', audiences: ['api'] };
  expect(await tokenReviewer(knows('t'))(question, SIGNAL)).toEqual({
    isKnown: true,
    user: { ...jane.user, groups: [USER_GROUP.authenticated] },
    audiences: ['api'],
  });
  expect(await tokenReviewer(knows('u'))(question, SIGNAL)).toEqual({
    isKnown: false,
    why: 'invalid bearer token',
  });
  const broken: TokenAuthenticator = async () => Promise.reject(new TypeError('broken'));
  await expect(tokenReviewer(firstTokenOf([broken]))(question, SIGNAL)).rejects.toThrow(TypeError);
});
