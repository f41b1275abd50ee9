import { urlPartsOf } from './url-parts';

test.each([
  ['https://u:p@a.example.com:1/b?c#d', 'https', 'a.example.com:1', 'u:p', 'c', 'd'],
  ['HTTPS:a', 'https', '', undefined, '', ''],
  ['a b', '', '', undefined, '', ''],
  ['//a', '', 'a', undefined, '', ''],
  ['///a', '', '', undefined, '', ''],
])('%s is read in its parts', (url, scheme, host, user, query, fragment) => {
  expect(urlPartsOf(url)).toEqual({ scheme, host, user, query, fragment });
});

test.each([
  [':a', 'parse ":a": missing protocol scheme'],
  ['1a:b', 'parse "1a:b": first path segment in URL cannot contain colon'],
  ['a\nb', 'parse "a\\nb": net/url: invalid control character in URL'],
  ['https://a:b', 'parse "https://a:b": invalid port ":b" after host'],
  ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
  ['https://a b', 'parse "https://a b": invalid character " " in host name'],
  ['https://%zz', 'parse "https://%zz": invalid URL escape "%zz"'],
  ['https://a/%zz', 'parse "https://a/%zz": invalid URL escape "%zz"'],
  ['https://a b@c', 'parse "https://a b@c": net/url: invalid userinfo'],
])('%s is no URL, in the words of Go', (url, problem) => {
  expect(urlPartsOf(url)).toEqual({ problem });
});
