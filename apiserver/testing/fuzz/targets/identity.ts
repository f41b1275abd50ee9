import type { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newCertificateRequest } from '../../../../shared/certs/testing/new-certificate-request';
import { newKeyPem } from '../../../../shared/certs/testing/new-key-pem';
import {
  CertificateRequestError,
  parseCertificateRequest,
} from '../../../../shared/certs/certificate-request';
import { deepEqual } from '../../../../shared/object/clone';
import { isSignedByOneOf, parseToken, signToken } from '../../../../shared/tokens/json-web-token';
import { KeyError, signingKeyOf, verificationKeysOf } from '../../../../shared/tokens/token-key';
import { CsvError, parseCsv } from '../../../engine/authn/csv';
import { tokenFileLookup } from '../../../engine/authn/token-file';
import { CLIENT_AUTH, testCertificate } from '../../../../shared/certs/testing/test-certificates';
import { certificatesOfPem } from '../../../../shared/certs/x509/certificate';
import { verifyChain } from '../../../../shared/certs/x509/chain';
import {
  certificateRequestOrganizations,
  certificateRequestProblem,
} from '../../../kubernetes/kinds/certificates/pkcs10';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateDer } from '../mutators/mutate-der';
import { mutateInside } from '../mutators/mutate-json';
import { holds, refusable, refusableByError } from '../refusable';
import type { OpenTarget, Target } from '../target';

/** What says who somebody is. */
export const IDENTITY_TARGETS: readonly Target[] = [
  {
    name: 'json-web-token',
    corpus: 'json-web-token',
    made: goodTokens,
    words: [
      '.',
      '..',
      'none',
      'HS256',
      'RS256',
      'ES256',
      'alg',
      'kid',
      'crit',
      'jwk',
      'iss',
      'aud',
      'exp',
      '=',
      'eyJ',
    ],
    mutators: [mutateBytes, mutatePart(0), mutatePart(1)],
    runs: 750,
    open: openTokens,
  },
  {
    name: 'certificate-request',
    corpus: 'certificate-request',
    made: () => requests.map(({ pem }) => Buffer.from(pem)),
    words: [
      '-----BEGIN CERTIFICATE REQUEST-----\n',
      '-----END CERTIFICATE REQUEST-----',
      '-----BEGIN NEW CERTIFICATE REQUEST-----',
      '\n',
      'AA==',
    ],
    mutators: [mutateDer, mutateDer, mutateBytes],
    runs: 500,
    open: () => ({ check: checkRequest }),
  },
  {
    name: 'certificate',
    corpus: 'certificate',
    made: () => [...pki.leaves, ...pki.sent, pki.root].map(({ pem }) => Buffer.from(pem)),
    words: ['-----BEGIN CERTIFICATE-----\n', '-----END CERTIFICATE-----', '\n', 'AA=='],
    mutators: [mutateDer, mutateDer, mutateBytes],
    runs: 1_000,
    open: () => ({ check: checkCertificate }),
  },
  {
    name: 'certificate-chain',
    corpus: 'certificate-chain',
    made: () =>
      pki.leaves.flatMap((leaf) =>
        [[leaf], [leaf, ...pki.sent]].map((chain) => Buffer.from(chain.map(({ pem }) => pem).join(''))),
      ),
    words: [],
    mutators: [mutateDer, mutateBytes],
    runs: 300,
    open: () => ({ check: checkChain }),
  },
  {
    name: 'token-keys',
    corpus: 'token-keys',
    made: () =>
      (['rsa', 'P-256', 'ed25519'] as const).flatMap((kind) =>
        Object.values(newKeyPem(kind)).map((pem: string) => Buffer.from(pem)),
      ),
    words: [
      '-----BEGIN PUBLIC KEY-----\n',
      '-----END PUBLIC KEY-----',
      '-----BEGIN EC PRIVATE KEY-----\n',
      '\n',
    ],
    mutators: [mutateDer, mutateBytes],
    runs: 300,
    open: () => ({ check: checkTokenKeys }),
  },
  {
    name: 'csv',
    corpus: 'csv',
    words: [',', '"', '""', '\n', '\r\n', '\r', '#', '\ufeff', ' ', 'token', 'system:masters'],
    mutators: [mutateBytes],
    runs: 150,
    open: openCsv,
  },
];

const tokenKey = signingKeyOf(newKeyPem().privateKey);

async function goodTokens(): Promise<readonly Buffer[]> {
  const claims = [
    { iss: 'https://issuer', sub: 'a', aud: ['b'], exp: 2_000_000_000 },
    { sub: 'ü', nested: { a: [1, null] } },
    {},
  ];
  return Promise.all(claims.map(async (each) => Buffer.from(await signToken(tokenKey, each))));
}

/** Changes the header or the claims, and leaves the signature as it is. */
function mutatePart(index: 0 | 1): ReturnType<typeof mutateInside> {
  return mutateInside((input) => {
    const parts = input.toString('latin1').split('.');
    return {
      json: Buffer.from(parts[index] ?? '', 'base64url'),
      write: (json) => {
        const changed = parts.map((part, at) => (at === index ? json.toString('base64url') : part));
        return Buffer.from(changed.join('.'), 'latin1');
      },
    };
  });
}

async function openTokens(): Promise<OpenTarget> {
  const good = new Set(
    (await goodTokens()).map((each) => each.toString('latin1').split('.').slice(0, 2).join('.')),
  );
  // Signatures are random: what was signed is what counts.
  return {
    check: async (input) => {
      const text = input.toString('utf8');
      const token = parseToken(text);
      if (token === undefined) return;
      const [head = '', body = '', tail = '', ...rest] = text.split('.');
      holds(rest.length === 0, 'a token has three parts', text);
      holds(
        Buffer.from(tail, 'base64url').toString('base64url') === tail,
        'a signature has one spelling',
        text,
      );
      holds(
        deepEqual({ ...token.claims }, JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))),
        'the claims are those of the token',
        text,
      );
      const signed = await isSignedByOneOf(token, [tokenKey]);
      holds(!signed || good.has(`${head}.${body}`), 'nothing but what was signed is taken as signed', text);
    },
  };
}

const requests = [
  newCertificateRequest({ commonName: 'system:node:a', organizations: ['system:nodes'] }),
  newCertificateRequest({
    commonName: 'a',
    dns: ['a.example'],
    ip: [Buffer.from([10, 0, 0, 1])],
    uri: ['spiffe://a'],
    email: ['a@b'],
  }),
  newCertificateRequest({
    names: [['2.5.4.3', 'first']],
    commonName: 'last',
    organizations: ['b', 'ü'],
    keyType: 'rsa',
  }),
  newCertificateRequest({ keyType: 'ed25519', commonName: 'e' }),
];
const signedSubjects: ReadonlySet<string> = new Set(requests.map(({ pem }) => subjectKey(pem)));

function checkRequest(input: Buffer): void {
  const pem = input.toString('latin1');
  const problem = certificateRequestProblem(pem);
  certificateRequestOrganizations(pem);
  const request = refusable(() => parseCertificateRequest(pem), CertificateRequestError)?.value;
  holds(request !== undefined || problem !== undefined, 'an unreadable request is reported', pem);
  if (request === undefined) return;
  for (const { id, text } of request.attributes)
    holds(
      /^(?:[0-9a-f]{2})*$/.test(id) && typeof text === 'string',
      'a name has an identifier and a text',
      id,
      text,
    );
  holds(
    request.alternativeNames.ip.every(({ length }) => length === 4 || length === 16),
    'addresses have 4 or 16 bytes',
    pem,
  );
  if (problem === undefined)
    holds(signedSubjects.has(subjectKey(pem)), 'nothing but what was signed is taken as signed', pem);
}

function subjectKey(pem: string): string {
  const { attributes, alternativeNames, publicKeyInfo } = parseCertificateRequest(pem);
  return JSON.stringify([attributes, alternativeNames, publicKeyInfo.toString('hex')]);
}

const NOW_MS = Date.now();
const pki = newPki();

function newPki() {
  const authority = { commonName: 'root', authority: {} } as const;
  const root = testCertificate(authority);
  const middle = testCertificate({ commonName: 'middle', authority: { pathLength: 1 }, issuer: root });
  const lower = testCertificate({ commonName: 'lower', authority: { pathLength: 0 }, issuer: middle });
  const leaf = { commonName: 'alice', organizations: ['devs'], extendedUsages: [CLIENT_AUTH] };
  return {
    root,
    sent: [lower, middle],
    leaves: [
      testCertificate({ ...leaf, issuer: root }),
      testCertificate({ ...leaf, commonName: 'bob', issuer: lower }),
      testCertificate({ commonName: 'old', isOldVersion: true }),
    ],
  };
}

/** Two readers of the same bytes: ours, and that of node:crypto. */
function checkCertificate(input: Buffer): void {
  const pem = input.toString('latin1');
  const found = refusableByError(() => certificatesOfPem(pem))?.value;
  for (const certificate of found ?? []) {
    const { x509, notBeforeMs, notAfterMs, commonName } = certificate;
    holds(
      notBeforeMs === Date.parse(x509.validFrom) && notAfterMs === Date.parse(x509.validTo),
      'times are those that OpenSSL reads',
      x509.validFrom,
      x509.validTo,
      notBeforeMs,
      notAfterMs,
    );
    const names = (x509.subject ?? '').split('\n').filter((line) => line.startsWith('CN='));
    const last = names.at(-1)?.slice('CN='.length);
    if (last !== undefined && /^[\w:. -]*$/.test(last) && /^[\w:. -]*$/.test(commonName))
      holds(last === commonName, 'the name is the one that OpenSSL reads', last, commonName);
  }
}

const leafKeys: ReadonlySet<string> = new Set(pki.leaves.map(({ parsed }) => signedPartOf(parsed.x509)));

async function checkChain(input: Buffer): Promise<void> {
  const found = refusableByError(() => certificatesOfPem(input.toString('latin1')))?.value;
  const [certificate, ...intermediates] = found ?? [];
  if (certificate === undefined) return;
  const result = await verifyChain({ certificate, intermediates, anchors: [pki.root.parsed], now: NOW_MS });
  if (!result.isTrusted) return;
  const known = [...leafKeys, ...[...pki.sent, pki.root].map(({ parsed }) => signedPartOf(parsed.x509))];
  holds(
    known.includes(signedPartOf(certificate.x509)),
    'nothing but what was issued is trusted',
    certificate.x509.toString(),
  );
  holds(result.untilMs > NOW_MS, 'what is trusted is in its time', result);
}

/** All that a signature covers of a certificate, as OpenSSL shows it. */
function signedPartOf({
  subject,
  issuer,
  serialNumber,
  validFrom,
  validTo,
  publicKey,
}: X509Certificate): string {
  return JSON.stringify([
    subject,
    issuer,
    serialNumber,
    validFrom,
    validTo,
    publicKey.export({ type: 'spki', format: 'pem' }),
  ]);
}

function checkTokenKeys(input: Buffer): void {
  const keys = refusable(() => verificationKeysOf(input.toString('latin1')), KeyError)?.value;
  for (const { publicKey } of keys ?? [])
    holds(publicKey.type === 'public', 'no private key is kept to verify', publicKey.type);
}

function openCsv(): OpenTarget {
  const folder = mkdtempSync(path.join(tmpdir(), 'orch-fuzz-'));
  const file = path.join(folder, 'tokens.csv');
  return {
    check: async (input) => {
      const text = input.toString('utf8');
      const records = refusable(() => parseCsv(text), CsvError)?.value;
      if (records !== undefined) {
        const written = records
          .map(({ fields }) => fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(','))
          .join('\n');
        const again = parseCsv(written).map(({ fields }) => fields);
        const given = records
          .map(({ fields }) => fields)
          .filter((fields) => fields.length > 1 || (fields[0] ?? '') !== '');
        holds(
          deepEqual(
            again.filter((fields) => fields.length > 1 || (fields[0] ?? '') !== ''),
            given,
          ),
          'records are the same after they were written and read',
          text,
          written,
        );
      }
      writeFileSync(file, text);
      const lookup = tokenFileOrRefusal(file, text);
      for (const { fields } of lookup === undefined ? [] : (records ?? [])) {
        const [token = '', name = ''] = fields;
        const found = await lookup?.(token);
        holds(found?.user.name === name, 'every token of the file is known', fields, found);
      }
      holds((await lookup?.('')) === undefined, 'the empty token identifies no user', text);
    },
    close: async () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

const SECRET_CHARS_MIN = 12;

function tokenFileOrRefusal(file: string, text: string): ReturnType<typeof tokenFileLookup> | undefined {
  try {
    return tokenFileLookup(file);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TokenFileError') throw error;
    const { message } = error;
    const secrets = text
      .split(/[\s,"]+/)
      .filter((word) => word.length >= SECRET_CHARS_MIN && !file.includes(word));
    holds(!secrets.some((secret) => message.includes(secret)), 'no token shows in a message', message);
    return undefined;
  }
}
