import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as der from '../der';
import type { TestCertificate } from '../testing/test-certificates';
import {
  ANY_USAGE,
  CLIENT_AUTH,
  SERVER_AUTH,
  testAuthority,
  testCertificate,
} from '../testing/test-certificates';
import { certificateOf, certificatesOfPem } from './certificate';
import { verifyChain } from './chain';

const HOUR_MS = 3_600_000;
const now = Date.now();
const root = testAuthority();
const middle = testAuthority({ issuer: root });

interface Asked {
  readonly sent?: readonly TestCertificate[];
  readonly trusted?: readonly TestCertificate[];
  readonly at?: number;
  readonly host?: string;
}

/** `trusted`, or why not. */
async function outcome(
  certificate: TestCertificate,
  { sent = [], trusted = [root], at = now, ...more }: Asked = {},
): Promise<string> {
  const result = await verifyChain({
    certificate: certificate.parsed,
    intermediates: sent.map(({ parsed }) => parsed),
    anchors: trusted.map(({ parsed }) => parsed),
    now: at,
    ...more,
  });
  return result.isTrusted ? 'trusted' : result.why;
}

const UNKNOWN = 'certificate signed by unknown authority';
const EXPIRED = /^certificate has expired or is not yet valid: current time .*Z is (?:before|after) .*Z$/;

/** The text for a chain whose only candidate issuer has this problem. */
function candidate(name: string, problem: string): string {
  const cause = `because of "x509: ${problem}" while trying to verify candidate authority certificate "${name}"`;
  return `${UNKNOWN} (possibly ${cause})`;
}

const CANNOT_SIGN = 'invalid signature: parent certificate cannot sign this kind of certificate';
const alice = { commonName: 'alice', extendedUsages: [CLIENT_AUTH] };

describe('a certificate is trusted', () => {
  test.each<[string, TestCertificate, Asked]>([
    ['of an authority', testCertificate({ ...alice, issuer: root }), {}],
    ['of one of several', testCertificate({ ...alice, issuer: root }), { trusted: [testAuthority(), root] }],
    ['by way of what was sent along', testCertificate({ ...alice, issuer: middle }), { sent: [middle] }],
    [
      'whatever else and in whatever order is sent along',
      testCertificate({ ...alice, issuer: middle }),
      { sent: [testAuthority(), root, middle] },
    ],
    [
      'of an authority that another has signed, without that one',
      testCertificate({ ...alice, issuer: middle }),
      { trusted: [middle] },
    ],
    ['that says nothing about its use', testCertificate({ commonName: 'a', issuer: root }), {}],
    ['for any use', testCertificate({ ...alice, extendedUsages: [ANY_USAGE], issuer: root }), {}],
    [
      'for servers and clients',
      testCertificate({ ...alice, extendedUsages: [SERVER_AUTH, CLIENT_AUTH], issuer: root }),
      {},
    ],
  ])('%s', async (_what, certificate, asked) => {
    expect(await outcome(certificate, asked)).toBe('trusted');
  });

  test('if it stands in the bundle itself', async () => {
    const own = testCertificate(alice);
    expect(await outcome(own, { trusted: [own] })).toBe('trusted');
    expect(await outcome(own)).toBe(UNKNOWN);
  });

  test('by RSA-PSS with SHA-256, and not with SHA-1', async () => {
    const issuer = testAuthority({ keys: generateKeyPairSync('rsa', { modulusLength: 2048 }), isPss: true });
    const trusted = [issuer];
    expect(await outcome(testCertificate({ ...alice, issuer, isPss: true }), { trusted })).toBe('trusted');
    expect(await outcome(testCertificate({ ...alice, issuer, isPss: true, hash: 'sha1' }), { trusted })).toBe(
      UNKNOWN,
    );
  });

  test('of an old authority that is trusted, and not of an old certificate that is sent along', async () => {
    const old = testAuthority({ isOldVersion: true });
    expect(await outcome(testCertificate({ ...alice, issuer: old }), { trusted: [old] })).toBe('trusted');
    const user = testCertificate({ commonName: 'bob', issuer: root, isOldVersion: true });
    expect(await outcome(user)).toBe('trusted');
    expect(await outcome(testCertificate({ ...alice, issuer: user }), { sent: [user] })).toBe(
      candidate('bob', 'certificate is not authorized to sign other certificates'),
    );
  });

  test('as deep as its authorities allow', async () => {
    const shallow = testAuthority({ authority: { pathLength: 1 } });
    const one = testAuthority({ issuer: shallow });
    const two = testAuthority({ issuer: one });
    const trusted = [shallow];
    expect(await outcome(testCertificate({ ...alice, issuer: one }), { trusted, sent: [one] })).toBe(
      'trusted',
    );
    expect(await outcome(testCertificate({ ...alice, issuer: two }), { trusted, sent: [one, two] })).toBe(
      candidate(shallow.parsed.commonName, 'too many intermediates for path length constraint'),
    );
  });

  test('from the first moment of its time to the last, and that of its authorities', async () => {
    const notAfterMs = Math.floor(now / 1000) * 1000 + HOUR_MS;
    const notBeforeMs = notAfterMs - 2 * HOUR_MS;
    const certificate = testCertificate({ ...alice, issuer: root, notBeforeMs, notAfterMs });
    const trusted = [root];
    expect(await outcome(certificate, { trusted, at: notAfterMs + 1 })).toMatch(EXPIRED);
    expect(await outcome(certificate, { trusted, at: notBeforeMs - 1 })).toMatch(EXPIRED);
    expect(
      await verifyChain({ certificate: certificate.parsed, intermediates: [], anchors: [root.parsed], now }),
    ).toEqual({ isTrusted: true, untilMs: Math.min(notAfterMs, root.parsed.notAfterMs) });
    const old = testAuthority({ notAfterMs: now - 1 });
    expect(await outcome(testCertificate({ ...alice, issuer: old }), { trusted: [old] })).toMatch(
      /unknown authority \(possibly because of "x509: certificate has expired/,
    );
  });
});

describe('a certificate is not trusted', () => {
  const impostor = testAuthority({ commonName: root.parsed.commonName });
  const forServers = testAuthority({ issuer: root, extendedUsages: [SERVER_AUTH] });
  const noSigner = testAuthority({ issuer: root, keyUsage: [0] });
  const leaf = testCertificate({ ...alice, issuer: root });
  test.each<[string, TestCertificate, Asked, string]>([
    ['of an unknown authority', testCertificate({ ...alice, issuer: testAuthority() }), {}, UNKNOWN],
    [
      'of one with a known name and another key',
      testCertificate({ ...alice, issuer: impostor }),
      {},
      candidate(root.parsed.commonName, 'verification error'),
    ],
    [
      'of one that was only sent along',
      testCertificate({ ...alice, issuer: impostor }),
      { sent: [impostor] },
      candidate(root.parsed.commonName, 'verification error'),
    ],
    ['with a link that is missing', testCertificate({ ...alice, issuer: middle }), {}, UNKNOWN],
    [
      'with another’s signature',
      testCertificate({ ...alice, issuer: root, signingKey: impostor.privateKey }),
      {},
      candidate(root.parsed.commonName, 'verification error'),
    ],
    ['signed with SHA-1', testCertificate({ ...alice, issuer: root, hash: 'sha1' }), {}, UNKNOWN],
    [
      'for servers',
      testCertificate({ ...alice, extendedUsages: [SERVER_AUTH], issuer: root }),
      {},
      'certificate specifies an incompatible key usage',
    ],
    [
      'of an authority for servers',
      testCertificate({ ...alice, issuer: forServers }),
      { sent: [forServers] },
      'certificate specifies an incompatible key usage',
    ],
    [
      'of an issuer that is no authority',
      testCertificate({ ...alice, issuer: leaf }),
      { sent: [leaf] },
      candidate('alice', CANNOT_SIGN),
    ],
    [
      'of an authority whose key may not sign',
      testCertificate({ ...alice, issuer: noSigner }),
      { sent: [noSigner] },
      candidate(noSigner.parsed.commonName, CANNOT_SIGN),
    ],
    [
      'with an unknown critical extension',
      testCertificate({ ...alice, issuer: root, extensions: [['1.2.3.4', der.sequence(), true]] }),
      {},
      'unhandled critical extension',
    ],
  ])('%s', async (_what, certificate, asked, why) => {
    expect(await outcome(certificate, asked)).toBe(why);
  });
});

describe('by the rules of Go and not those of OpenSSL, a server is trusted', () => {
  const host = 'a.b.example';
  const names = ['2.5.29.17', der.sequence(der.implicit(2, Buffer.from(host))), false] as const;
  const served = { extendedUsages: [SERVER_AUTH], extensions: [names] };
  const twin = testAuthority({ commonName: root.parsed.commonName });
  const nameless = testCertificate({ authority: {} });
  const keyIdentifier = (text: string): Buffer => der.sequence(der.implicit(0, Buffer.from(text)));

  test.each<[string, TestCertificate, Asked]>([
    ['without subject and issuer', testCertificate({ ...served, issuer: nameless }), { trusted: [nameless] }],
    [
      'of an intermediate that is trusted',
      testCertificate({ ...served, issuer: middle }),
      { trusted: [middle] },
    ],
    [
      'of the second of two authorities of one name',
      testCertificate({ ...served, issuer: twin }),
      { trusted: [root, twin] },
    ],
    [
      'named like its authority',
      testCertificate({ ...served, commonName: root.parsed.commonName, issuer: root }),
      {},
    ],
    [
      'with an identifier of another key for its authority',
      testCertificate({
        ...served,
        extensions: [names, ['2.5.29.35', keyIdentifier('x'), false]],
        issuer: root,
      }),
      {},
    ],
    [
      'of the last of many authorities of one name',
      testCertificate({ ...served, issuer: twin }),
      {
        trusted: [
          ...Array.from({ length: 40 }, () => testAuthority({ commonName: root.parsed.commonName })),
          twin,
        ],
      },
    ],
  ])('%s', async (_what, certificate, asked) => {
    expect(await outcome(certificate, { ...asked, host })).toBe('trusted');
  });

  test('but not one for clients, of another name, or with a common name alone', async () => {
    const clients = testCertificate({ ...served, extendedUsages: [CLIENT_AUTH], issuer: root });
    expect(await outcome(clients, { host })).toBe('certificate specifies an incompatible key usage');
    expect(await outcome(testCertificate({ ...served, issuer: root }), { host: 'c.example' })).toBe(
      'certificate is valid for a.b.example, not c.example',
    );
    expect(await outcome(testCertificate({ commonName: host, issuer: root }), { host })).toBe(
      'certificate relies on legacy Common Name field, use SANs instead',
    );
    expect(await outcome(testCertificate({ ...served, issuer: twin }), { host })).toBe(
      candidate(root.parsed.commonName, 'verification error'),
    );
  });
});

describe('signatures are checked', () => {
  let verify: jest.SpyInstance;
  beforeEach(() => {
    verify = jest.spyOn(X509Certificate.prototype, 'verify');
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const ec = (namedCurve: string): Keys => generateKeyPairSync('ec', { namedCurve });

  test.each<[string, () => Keys]>([
    ['sect571k1', () => ec('sect571k1')],
    ['P-521', () => ec('P-521')],
    ['RSA with 4096 bits', () => generateKeyPairSync('rsa', { modulusLength: 4_096 })],
  ])('with no key of a stranger, though many authorities have issued each other: %s', async (_what, make) => {
    const keys = make();
    const sent = Array.from({ length: 16 }, () => testAuthority({ commonName: 'X', keys }));
    const [issuer] = sent;
    const certificate = testCertificate({ ...alice, ...(issuer === undefined ? {} : { issuer }) });
    expect(await outcome(certificate, { sent })).not.toBe('trusted');
    expect(verify).toHaveBeenCalledTimes(0);
  });

  test('sixteen times at most with the keys of authorities whose name a stranger takes', async () => {
    const trusted = [testAuthority({ commonName: 'X' }), testAuthority({ commonName: 'X' })];
    const keys = ec('P-256');
    const sent = Array.from({ length: 16 }, () => testAuthority({ commonName: 'X', keys }));
    const issuer = testAuthority({ commonName: 'X', keys });
    const certificate = testCertificate({ ...alice, issuer });
    expect(await outcome(certificate, { sent, trusted })).toBe(
      'signature check attempts limit reached while verifying certificate chain',
    );
    expect(verify).toHaveBeenCalledTimes(16);
  });

  test('sixteen times at most, also if an authority vouches for the keys', async () => {
    const maze = Array.from({ length: 6 }, () => ec('P-256'));
    const names = maze.map((keys) => testAuthority({ commonName: 'X', keys }));
    const entry = testAuthority({ commonName: 'X', issuer: root, ...keysAt(maze, 0) });
    const crossed = names.flatMap((issuer, from) =>
      maze
        .filter((_keys, to) => to !== from)
        .slice(0, 2)
        .map((keys) => testAuthority({ commonName: 'X', issuer, keys })),
    );
    const lost = testAuthority({ commonName: 'X' });
    const certificate = testCertificate({ ...alice, issuer: lost });
    expect(await outcome(certificate, { sent: [entry, ...crossed] })).toBe(
      'signature check attempts limit reached while verifying certificate chain',
    );
    expect(verify).toHaveBeenCalledTimes(16);
  });

  test('once for each certificate of an ordinary chain, whatever else is sent along', async () => {
    const lower = testAuthority({ issuer: middle });
    const certificate = testCertificate({ ...alice, issuer: lower });
    const sent = [testAuthority(), root, lower, lower, testAuthority(), middle];
    expect(await outcome(certificate, { sent })).toBe('trusted');
    expect(verify).toHaveBeenCalledTimes(3);
  });

  test('once for all certificates of one key and name', async () => {
    const keys = ec('P-256');
    const twins = Array.from({ length: 8 }, () => testAuthority({ commonName: 'twin', issuer: root, keys }));
    const [issuer = root] = twins;
    const certificate = testCertificate({ ...alice, issuer, signingKey: ec('P-256').privateKey });
    expect(await outcome(certificate, { sent: twins })).toBe(candidate('twin', 'verification error'));
    expect(verify).toHaveBeenCalledTimes(8 + 1);
  });

  test('not at all if the certificate is of no use anyway', async () => {
    const certificate = testCertificate({ ...alice, extendedUsages: [SERVER_AUTH], issuer: root });
    expect(await outcome(certificate)).not.toBe('trusted');
    expect(verify).toHaveBeenCalledTimes(0);
  });
});

type Keys = Pick<TestCertificate, 'privateKey' | 'publicKey'>;

function keysAt(all: readonly Keys[], index: number): { readonly keys?: Keys } {
  const keys = all[index];
  return keys === undefined ? {} : { keys };
}

describe('what a certificate says', () => {
  test('a path length that is none is refused', () => {
    const constraints = (length: Buffer): Buffer => der.sequence(der.boolean(true), length);
    const broken = (length: Buffer) => () =>
      testCertificate({
        commonName: 'a',
        extensions: [['2.5.29.19', constraints(length), true]],
        isLeftOpen: true,
      });
    expect(broken(Buffer.from([0x02, 0x01, 0x80]))).toThrow('a malformed path length');
    expect(broken(Buffer.from([0x02, 0x00]))).toThrow('a malformed path length');
    expect(broken(Buffer.from([0x02, 0x01, 0x03]))().parsed.pathLengthMax).toBe(3);
  });

  test.each([
    ['without seconds', '3001010000Z'],
    ['with an offset', '300101000000+0100'],
    ['of the 30th of February', '300230000000Z'],
    ['of letters', 'tomorrow, noon'],
  ])('a time %s is refused', (_what, text) => {
    const good = der.time(now - HOUR_MS);
    const bad = Buffer.concat([Buffer.from([0x17, text.length]), Buffer.from(text)]);
    expect(() => testCertificate({ commonName: 'a', times: [good, bad] })).toThrow('a malformed time');
    expect(() => testCertificate({ commonName: 'a', times: [bad, good] })).toThrow('a malformed time');
  });

  test('a time is read in both of its forms, from 1950 on', () => {
    const times = [
      Date.UTC(1950, 0, 1),
      Date.UTC(1999, 11, 31, 23, 59, 59),
      Date.UTC(2049, 11, 31),
      Date.UTC(2050, 0),
    ];
    for (const ms of times) {
      const { parsed } = testCertificate({ commonName: 'a', notBeforeMs: ms, notAfterMs: ms + HOUR_MS });
      expect([parsed.notBeforeMs, parsed.notAfterMs]).toEqual([ms, ms + HOUR_MS]);
    }
  });

  test('the last common name counts, and all organizations in their order', () => {
    const { parsed } = testCertificate({
      names: [['2.5.4.3', der.utf8String('first')]],
      organizations: ['b', 'a', 'ü'],
      commonName: 'last',
    });
    expect(parsed).toMatchObject({ commonName: 'last', organizations: ['b', 'a', 'ü'] });
  });

  test('an extension that is critical and not known does not hinder reading, and neither does a text around PEM', () => {
    const made = testCertificate({ commonName: 'a' });
    const [found, another] = certificatesOfPem(
      `x\n${made.pem}\n-----BEGIN X-----\n-----END X-----\n${root.pem}`,
    );
    expect(found?.commonName).toBe('a');
    expect(another?.x509.raw.equals(root.parsed.x509.raw)).toBe(true);
    expect(certificateOf(made.parsed.x509)).toEqual({ ...made.parsed });
    expect(() => certificatesOfPem('')).toThrow('no certificate in PEM form');
  });
});

test.each([
  [
    'its serial number, which may be negative',
    { names: [], serial: Buffer.from([2, 1, 0x80]) },
    'serial:-128',
  ],
  ['256 characters of its name', { commonName: 'x'.repeat(10_000) }, 'x'.repeat(256)],
])('a refusal names a candidate issuer by %s', async (_what, options, name) => {
  const issuer = testCertificate(options);
  const leaf = testCertificate({ ...alice, issuer });
  expect(await outcome(leaf, { sent: [issuer] })).toBe(candidate(name, CANNOT_SIGN));
});
