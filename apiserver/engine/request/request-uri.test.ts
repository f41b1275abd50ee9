import { requestUri, writtenPath, withoutSecrets } from './request-uri';

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
])('%s is formatted as %s', (uri, formatted) => {
  expect(requestUri(asked(uri))).toBe(formatted);
});

test('an exchange without a listener is formatted from its parts', () => {
  const query = new URLSearchParams('b=1');
  expect(requestUri({ path: '/a', query })).toBe('/a?b=1');
  expect(requestUri({ path: '/a', query, search: '' })).toBe('/a');
  expect(writtenPath({ path: '/a' })).toBe('/a');
  expect(writtenPath({ path: '/h', uri: '/%68?x' })).toBe('/%68');
});

test.each([
  ['/api?access_token=abc&watch=1', '/api?access_token=REDACTED&watch=1'],
  ['/api?a=b&Token=abc', '/api?a=b&Token=REDACTED'],
  ['/api?password=a=b&password=c', '/api?password=REDACTED&password=REDACTED'],
  ['/api?%74oken=abc&x=%zz&%zz=1', '/api?%74oken=REDACTED&x=%zz&%zz=1'],
  ['/api?a=1;token=abc&b=2', '/api?a=1;token=REDACTED&b=2'],
  ['/api?password=ab;cd&b=2', '/api?password=REDACTED&b=2'],
  [
    '/api?client-secret=a&X-Amz-Signature=b&jwt=c',
    '/api?client-secret=REDACTED&X-Amz-Signature=REDACTED&jwt=REDACTED',
  ],
  ['/api?continue=abc&mytoken=abc', '/api?continue=abc&mytoken=abc'],
  ['/token=abc', '/token=abc'],
])('%s is recorded as %s', (uri, expected) => {
  expect(withoutSecrets(uri)).toBe(expected);
});
