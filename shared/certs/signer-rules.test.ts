import { parseCertificateRequest } from './certificate-request';
import type { NewRequestOptions } from './testing/new-certificate-request';
import { newCertificateRequest } from './testing/new-certificate-request';
import { SIGNER } from '../names';
import { SIGNER_RULES, nodeClientProblem } from './signer-rules';

const CLIENT = ['client auth', 'digital signature', 'key encipherment'];
const SERVING = ['server auth', 'digital signature', 'key encipherment'];
const NODE = { commonName: 'system:node:a', organizations: ['system:nodes'] };
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

type Row = [title: string, options: NewRequestOptions, usages: readonly string[], problem?: string];

function problemOf(signer: string, options: NewRequestOptions, usages: readonly string[]) {
  return SIGNER_RULES.get(signer)?.(parseCertificateRequest(newCertificateRequest(options).pem), usages);
}

describe('of a node as a client', () => {
  const rows: Row[] = [
    ['what it must be', NODE, CLIENT],
    ['usages in another order', NODE, CLIENT.toReversed()],
    ['repeated usages', NODE, [...CLIENT, 'client auth']],
    ['the prefix of the name alone', { ...NODE, commonName: 'system:node:' }, CLIENT],
    ['several names, of which the last counts', { ...NODE, names: [['2.5.4.3', 'admin']] }, CLIENT],
    [
      'several names, of which the last is none of a node',
      { names: [['2.5.4.3', 'system:node:a']], commonName: 'admin', organizations: ['system:nodes'] },
      CLIENT,
      'subject common name does not begin with system:node:',
    ],
    ['no organization', { commonName: 'system:node:a' }, CLIENT, 'subject organization is not system:nodes'],
    [
      'another organization',
      { ...NODE, organizations: ['system:masters'] },
      CLIENT,
      'subject organization is not system:nodes',
    ],
    [
      'a second organization',
      { ...NODE, organizations: ['system:nodes', 'system:masters'] },
      CLIENT,
      'subject organization is not system:nodes',
    ],
    [
      'the organization twice',
      { ...NODE, organizations: ['system:nodes', 'system:nodes'] },
      CLIENT,
      'subject organization is not system:nodes',
    ],
    [
      'another name',
      { ...NODE, commonName: 'system:nodes:a' },
      CLIENT,
      'subject common name does not begin with system:node:',
    ],
    [
      'no name',
      { organizations: ['system:nodes'] },
      CLIENT,
      'subject common name does not begin with system:node:',
    ],
    ['a DNS name', { ...NODE, dns: ['a'] }, CLIENT, 'DNS subjectAltNames are not allowed'],
    ['an address', { ...NODE, ip: [LOOPBACK] }, CLIENT, 'IP subjectAltNames are not allowed'],
    ['an email address', { ...NODE, email: ['a@b'] }, CLIENT, 'Email subjectAltNames are not allowed'],
    ['a URI', { ...NODE, uri: ['spiffe://a'] }, CLIENT, 'URI subjectAltNames are not allowed'],
    [
      'a usage too few',
      NODE,
      ['client auth', 'digital signature'],
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [
      'a usage too many',
      NODE,
      [...CLIENT, 'server auth'],
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [
      'the usages of serving',
      NODE,
      SERVING,
      'usages did not match [client auth digital signature key encipherment]',
    ],
  ];
  test.each(rows)('%s', (...[, options, usages, problem]: Row) => {
    expect(problemOf(SIGNER.apiServerClientNodeAgent, options, usages)).toBe(problem);
    const request = parseCertificateRequest(newCertificateRequest(options).pem);
    expect(nodeClientProblem(request, usages)).toBe(problem);
  });
});

describe('of what a node serves', () => {
  const named = { ...NODE, dns: ['a.example.com'] };
  const rows: Row[] = [
    ['a DNS name', named, SERVING],
    ['an address', { ...NODE, ip: [LOOPBACK] }, SERVING],
    ['both', { ...named, ip: [LOOPBACK, Buffer.alloc(16)] }, SERVING],
    ['neither', NODE, SERVING, 'DNS or IP subjectAltName is required'],
    ['a URI beside', { ...named, uri: ['https://a'] }, SERVING, 'URI subjectAltNames are not allowed'],
    [
      'an email address beside',
      { ...named, email: ['a@b'] },
      SERVING,
      'Email subjectAltNames are not allowed',
    ],
    ['a URI instead', { ...NODE, uri: ['https://a'] }, SERVING, 'DNS or IP subjectAltName is required'],
    [
      'another organization',
      { ...named, organizations: ['nodes'] },
      SERVING,
      'subject organization is not system:nodes',
    ],
    [
      'another name',
      { ...named, commonName: 'a' },
      SERVING,
      'subject common name does not begin with system:node:',
    ],
    [
      'the usages of a client',
      named,
      CLIENT,
      'usages did not match [digital signature key encipherment server auth]',
    ],
    [
      'without key encipherment',
      named,
      ['digital signature', 'server auth'],
      'usages did not match [digital signature key encipherment server auth]',
    ],
  ];
  test.each(rows)('%s', (...[, options, usages, problem]: Row) => {
    expect(problemOf(SIGNER.nodeAgentServing, options, usages)).toBe(problem);
  });
});

describe('of any client', () => {
  const rows: Row[] = [
    ['for clients alone', {}, ['client auth']],
    ['with everything that is allowed, and further names', { dns: ['a'], uri: ['x:y'] }, CLIENT],
    [
      'not for clients',
      {},
      ['digital signature'],
      'missing required usage for client certificate: client auth',
    ],
    [
      'for servers too',
      {},
      ['client auth', 'server auth'],
      'invalid usage for client certificate: server auth',
    ],
    ['for signing', {}, ['client auth', 'cert sign'], 'invalid usage for client certificate: cert sign'],
    ['for anything', {}, ['any'], 'invalid usage for client certificate: any'],
    ['for nothing', {}, [], 'missing required usage for client certificate: client auth'],
  ];
  test.each(rows)('%s', (...[, options, usages, problem]: Row) => {
    expect(problemOf(SIGNER.apiServerClient, options, usages)).toBe(problem);
  });
});

test('old requests without a signer may ask for anything but a superuser', () => {
  const problem = (options: NewRequestOptions) =>
    problemOf(SIGNER.legacyUnknown, options, ['cert sign', 'any']);
  expect(problem({ uri: ['x:y'] })).toBeUndefined();
  expect(problem({ organizations: ['dev'] })).toBeUndefined();
  const refused = `use of ${SIGNER.legacyUnknown} signer with system:masters group is not allowed`;
  expect(problem({ organizations: ['system:masters'] })).toBe(refused);
  expect(problem({ organizations: ['dev', 'system:masters'] })).toBe(refused);
});

test('other signers have no rules of the project', () => {
  expect(SIGNER_RULES.size).toBe(4);
  expect(SIGNER_RULES.get('example.com/mine')).toBeUndefined();
});
