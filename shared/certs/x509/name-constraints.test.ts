import * as der from '../der';
import { alternativeNamesOf } from './alternative-names';
import type { NameConstraints } from './name-constraints';
import { comparisonBudget, constrainedNameProblem, nameConstraintsOf } from './name-constraints';

/** The cases follow name_constraints_test.go of Go's crypto/x509. */

const KIND = { email: 1, dns: 2, uri: 6, ip: 7 } as const;
type Names = readonly (readonly [kind: keyof typeof KIND, value: string | number[]])[];

function encoded(names: Names): readonly Buffer[] {
  return names.map(([kind, value]) => der.implicit(KIND[kind], Buffer.from(value as string)));
}

function subtrees(kind: 0 | 1, names: Names): readonly Buffer[] {
  return names.length === 0
    ? []
    : [der.explicit(kind, Buffer.concat(encoded(names).map((name) => der.sequence(name))))];
}

function constraints(permitted: Names, excluded: Names): NameConstraints {
  return nameConstraintsOf(der.sequence(...subtrees(0, permitted), ...subtrees(1, excluded)));
}

function problem(
  limits: { readonly permitted?: Names; readonly excluded?: Names },
  names: Names,
  budget = comparisonBudget(),
): string | undefined {
  const { permitted = [], excluded = [] } = limits;
  return constrainedNameProblem(
    constraints(permitted, excluded),
    [alternativeNamesOf(der.sequence(...encoded(names)))],
    budget,
  );
}

const NETWORK = [10, 1, 0, 0, 255, 255, 0, 0];

test.each<[string, Names, Names]>([
  ['a name in a permitted domain', [['dns', 'b.c']], [['dns', 'b.c']]],
  ['a name below it, in other letters', [['dns', 'b.C']], [['dns', 'a.B.c']]],
  ['a name below a domain with a dot', [['dns', '.b.c']], [['dns', 'a.b.c']]],
  ['any name, by an empty domain', [['dns', '']], [['dns', 'a']]],
  [
    'names of a kind without limits',
    [['dns', 'b.c']],
    [
      ['email', 'a@x.y'],
      ['ip', [1, 2, 3, 4]],
    ],
  ],
  ['an address in a network', [['ip', NETWORK]], [['ip', [10, 1, 2, 3]]]],
  ['a mailbox', [['email', 'a@b.c']], [['email', 'a@B.c']]],
  ['a mailbox of a host', [['email', 'b.c']], [['email', 'x@b.c']]],
  ['a URI of a host with a port', [['uri', 'b.c']], [['uri', 'spiffe://user@a.b.c:1/x']]],
])('permitted: %s', (_what, permitted, names) => {
  expect(problem({ permitted }, names)).toBeUndefined();
});

test.each<[string, { readonly permitted?: Names; readonly excluded?: Names }, Names]>([
  [
    'a name outside the permitted domains',
    {
      permitted: [
        ['dns', 'b.c'],
        ['dns', 'x'],
      ],
    },
    [['dns', 'b.d']],
  ],
  [
    'one of two names',
    { permitted: [['dns', 'b.c']] },
    [
      ['dns', 'b.c'],
      ['dns', 'd'],
    ],
  ],
  ['a name that only ends alike', { permitted: [['dns', 'b.c']] }, [['dns', 'ab.c']]],
  ['the domain itself, by a dot', { permitted: [['dns', '.b.c']] }, [['dns', 'b.c']]],
  [
    'an excluded name within a permitted domain',
    { permitted: [['dns', 'c']], excluded: [['dns', 'b.c']] },
    [['dns', 'a.b.c']],
  ],
  ['a wildcard that covers an excluded name', { excluded: [['dns', 'a.b.c']] }, [['dns', '*.b.c']]],
  ['an address outside the network', { permitted: [['ip', NETWORK]] }, [['ip', [10, 2, 2, 3]]]],
  [
    'an address of the other family',
    { permitted: [['ip', NETWORK]] },
    [['ip', Array.from({ length: 16 }, () => 1)]],
  ],
  ['an excluded address', { excluded: [['ip', NETWORK]] }, [['ip', [10, 1, 2, 3]]]],
  ['another mailbox of the host', { permitted: [['email', 'a@b.c']] }, [['email', 'A@b.c']]],
  ['a URI with an address', { permitted: [['uri', 'b.c']] }, [['uri', 'https://1.2.3.4/']]],
  ['a URI without a host', { excluded: [['uri', 'b.c']] }, [['uri', 'urn:b']]],
  ['a name that is none', { permitted: [['dns', 'b.c']] }, [['dns', 'a..b.c']]],
])('not permitted: %s', (_what, limits, names) => {
  expect(problem(limits, names)).toMatch(/^(?:DNS name|IP address|email address|URI) "/u);
});

test('limits on other kinds of names are noticed, and malformed ones refused', () => {
  const directory = der.explicit(4, der.sequence());
  expect(nameConstraintsOf(der.sequence(der.explicit(0, der.sequence(directory)))).hasOtherKinds).toBe(true);
  expect(constraints([['dns', 'a']], []).hasOtherKinds).toBe(false);
  expect(() => constraints([['dns', 'a..b']], [])).toThrow('malformed');
  expect(() => constraints([['ip', [1, 2, 3, 4]]], [])).toThrow('malformed');
  expect(() => constraints([['ip', [10, 0, 0, 0, 255, 0, 255, 0]]], [])).toThrow('malformed');
  expect(() => constraints([], [])).toThrow('empty');
});

test('the comparisons of all chains of a certificate are bounded', () => {
  const limits = {
    permitted: [
      ['dns', 'b.c'],
      ['dns', 'c'],
    ],
  } as const;
  const names: Names = [
    ['dns', 'a.c'],
    ['dns', 'd.c'],
  ];
  const budget = { left: 4 };
  expect(problem(limits, names, budget)).toBeUndefined();
  expect(problem(limits, names, budget)).toBe('too many comparisons of name constraints');
});
