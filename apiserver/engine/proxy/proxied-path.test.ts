import { encodedPath, forwardedUri, prefixOf, rewrittenLink } from './proxied-path';

const PREFIX = '/api/v1/namespaces/ns/pods/web/proxy';

test.each([
  ['', '/'],
  ['/a b', '/a%20b'],
  ['/a?b#c', '/a%3Fb%23c'],
  ['/ü', '/%C3%BC'],
  ["/!*'()", '/%21%2A%27%28%29'],
  ['/a:b@c&d=e+f$g,h;i', '/a:b@c&d=e+f$g,h;i'],
])('the path %j is sent as %s', (path, sent) => {
  expect(encodedPath(path)).toBe(sent);
});

test('the prefix is the request path without the path of the other server', () => {
  expect(prefixOf(`${PREFIX}/metrics`, '/metrics')).toBe(PREFIX);
  expect(prefixOf(`${PREFIX}/`, '/')).toBe(PREFIX);
  expect(prefixOf(PREFIX, '')).toBe(PREFIX);
  expect(forwardedUri(PREFIX, '/a/')).toBe(`${PREFIX}/a/`);
});

test.each([
  ['/x', `${PREFIX}/x`],
  ['/x/', `${PREFIX}/x/`],
  ['/x?a=b#c', `${PREFIX}/x?a=b#c`],
  [`${PREFIX}/x`, `${PREFIX}/x`],
  ['http://10.1.1.1:80/x', `${PREFIX}/x`],
  ['http://example.com/x', 'http://example.com/x'],
  ['x/y', 'x/y'],
  ['#top', '#top'],
  ['http://[', 'http://['],
])('the link %s becomes %s', (link, expected) => {
  // A parsed URL omits the default port.
  expect(rewrittenLink(link.replace(':80', ':8080'), PREFIX, '10.1.1.1:8080')).toBe(expected);
});
