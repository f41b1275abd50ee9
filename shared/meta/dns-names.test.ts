import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from './dns-names';

const a = (length: number): string => 'a'.repeat(length);

describe.each([
  [
    'a DNS-1123 label',
    dns1123LabelProblems,
    ['a', '0', 'a-b', '1a', a(63)],
    ['', 'A', '-a', 'a-', 'a.b', 'é', 'a\n'],
  ],
  [
    'a DNS-1123 subdomain',
    dns1123SubdomainProblems,
    ['a', 'a.b', '1.2', 'a-b.c-d', `${a(63)}.${a(189)}`],
    ['', '.', 'a..b', '.a', 'a.', 'a_b', 'A.b', 'a b', 'a/b'],
  ],
  ['a DNS-1035 label', dns1035LabelProblems, ['a', 'a1', 'a-1', a(63)], ['', '1a', '-a', 'a-', 'a.b', 'A']],
  [
    'a label value',
    labelValueProblems,
    ['', 'a', 'A', '0', 'a_b.c-d', a(63)],
    ['-a', 'a-', 'a b', 'a/b', 'é', '.', 'a\n'],
  ],
  [
    'a qualified name',
    qualifiedNameProblems,
    ['a', 'A_b.c-d', 'example.com/a', 'a/B', `${a(253)}/${a(63)}`],
    ['-a', 'a b', 'UP/a', 'a/b/c', '/a', 'é', '$patch'],
  ],
])('%s', (_what, problems, good, bad) => {
  test.each(good)('%j is valid', (value) => {
    expect(problems(value)).toEqual([]);
  });
  test.each(bad)('%j has one problem', (value) => {
    expect(problems(value)).toHaveLength(1);
  });
});

test.each([
  [dns1123LabelProblems, 64, 'must be no more than 63 characters'],
  [dns1035LabelProblems, 64, 'must be no more than 63 characters'],
  [dns1123SubdomainProblems, 254, 'must be no more than 253 characters'],
  [labelValueProblems, 64, 'must be no more than 63 characters'],
  [qualifiedNameProblems, 64, 'name part must be no more than 63 characters'],
])('%# one character too many is reported with the limit', (problems, length, message) => {
  expect(problems(a(length))).toEqual([message]);
});

test('lengths count bytes, and a name can have two problems', () => {
  expect(dns1123LabelProblems('é'.repeat(32))).toHaveLength(2);
});

test.each([
  [
    dns1123LabelProblems('A'),
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  [
    dns1123SubdomainProblems('A'),
    String.raw`a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ],
  [
    dns1035LabelProblems('1'),
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
  ],
  [
    labelValueProblems('-'),
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    qualifiedNameProblems('a/b/c'),
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  ],
])('%# the message is that of Kubernetes', (problems, message) => {
  expect(problems).toEqual([message]);
});

test('prefix and name of a qualified name are validated separately', () => {
  expect(qualifiedNameProblems('/a')).toEqual(['prefix part must be non-empty']);
  expect(qualifiedNameProblems('a/')).toEqual([
    'name part must be non-empty',
    expect.stringMatching(/^name part must consist of/),
  ]);
  expect(qualifiedNameProblems(`${a(254)}/b`)).toEqual(['prefix part must be no more than 253 characters']);
});

test.each([
  ['system:node', []],
  ['', []],
  ['.', ["may not be '.'"]],
  ['..', ["may not be '..'"]],
  ['a/b', ["may not contain '/'"]],
  ['%/', ["may not contain '/'", "may not contain '%'"]],
])('%j as a path segment: %j', (value, problems) => {
  expect(pathSegmentProblems(value)).toEqual(problems);
});

test('a prefix of a path segment may be dots', () => {
  expect(pathSegmentPrefixProblems('..')).toEqual([]);
  expect(pathSegmentPrefixProblems('a/')).toEqual(["may not contain '/'"]);
});
