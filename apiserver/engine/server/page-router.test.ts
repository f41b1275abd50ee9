import { newExchange } from '../request/testing/new-exchange';
import type { Answer } from '../request/exchange';
import { createPageRouter, page } from './page-router';
import { getPage } from './testing/get-page';

const ANSWER: Answer = { code: 200, headers: {}, body: Buffer.from('page') };

function routes(trailingSlash: 'strict' | 'optional' = 'strict') {
  const router = createPageRouter(trailingSlash);
  router.all(
    '/page',
    page(() => ANSWER),
  );
  router.all(
    '/missing/*name',
    page(() => undefined),
  );
  router.all(
    '/failing',
    page(async () => Promise.reject(new Error('the page failed'))),
  );
  return { router, paths: [] };
}

test.each(['GET', 'HEAD', 'POST', 'OPTIONS', 'PROPFIND'])(
  '%s reaches the handler of its path',
  async (method) => {
    expect(await getPage(routes(), newExchange({ method, path: '/page' }))).toBe(ANSWER);
  },
);

test.each([
  '/Page',
  '/page/',
  '//page',
  '/page#x',
  '/page\u00a0',
  'ftp://host/page',
  '*',
  '/pag%65x',
  '/missing/page',
])('%s has no page', async (path) => {
  expect(await getPage(routes(), newExchange({ path }))).toBeUndefined();
  expect(await getPage(routes(), newExchange({ path, method: 'OPTIONS' }))).toBeUndefined();
});

test('a slash at the end of a path is ignored where the router allows it', async () => {
  expect(await getPage(routes('optional'), newExchange({ path: '/page/' }))).toBe(ANSWER);
  expect(await getPage(routes('optional'), newExchange({ path: '/page//' }))).toBeUndefined();
});

test('the error of a handler reaches the caller', async () => {
  await expect(getPage(routes(), newExchange({ path: '/failing' }))).rejects.toThrow('the page failed');
});
