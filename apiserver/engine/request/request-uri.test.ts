import { requestUri, writtenPath } from './request-uri';

const asked = (uri: string) => ({ uri, path: '/never', query: new URLSearchParams() });

// As Go says: `u, _ := url.ParseRequestURI(uri); u.RequestURI()`.
test.each([
  ['/healthz', '/healthz'],
  ['/%68ealthz?%61=%62', '/%68ealthz?%61=%62'],
  ["/a%2Fb%e2%82%ac/!'()*[]", "/a%2Fb%e2%82%ac/!'()*[]"],
  ['/version?', '/version?'],
  ['/a"b%41!?"', '/a%22bA%21?"'],
  ['/a|b/%2f', '/a%7Cb//'],
  ['/\u00e4', '/%E4'],
])('%s is told as %s', (uri, told) => {
  expect(requestUri(asked(uri))).toBe(told);
});

test('what came without a listener is told by its parts', () => {
  const query = new URLSearchParams('b=1');
  expect(requestUri({ path: '/a', query })).toBe('/a?b=1');
  expect(requestUri({ path: '/a', query, search: '' })).toBe('/a');
  expect(writtenPath({ path: '/a' })).toBe('/a');
  expect(writtenPath({ path: '/h', uri: '/%68?x' })).toBe('/%68');
});
