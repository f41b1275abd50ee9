import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeCa } from '../../shared/certs/certificate';
import { parseFlags } from '../../shared/flags/parse-flags';
import { silentLog } from '../../shared/log/log';
import { SIGNER } from '../../shared/names';
import type { SigningFlags } from './signing';
import { SigningFilesError, openSigning, signingProblems } from './signing';
import { SIGNING_FLAGS } from './signing-flags';

const CA = makeCa({ commonName: 'ca', validDays: 1 });
let dir = '';
let cert = '';
let key = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'signing-'));
  cert = path.join(dir, 'ca.crt');
  key = path.join(dir, 'ca.key');
  writeFileSync(cert, CA.certificatePem);
  writeFileSync(key, CA.privateKeyPem);
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function flags(...argv: readonly string[]): SigningFlags {
  const parsed = parseFlags(SIGNING_FLAGS, argv);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return parsed.values;
}

const signers = Object.values(SIGNER);
const givenTo = (...argv: readonly string[]): readonly string[] => {
  const signing = openSigning(flags(...argv), silentLog);
  return signers.filter((signer) => signing?.authorityOf(signer) !== undefined);
};

test('without files nothing is signed', () => {
  expect(signingProblems(flags())).toEqual([]);
  expect(openSigning(flags(), silentLog)).toBeUndefined();
});

test('the general files apply to every signer', () => {
  expect(givenTo(`--cluster-signing-cert-file=${cert}`, `--cluster-signing-key-file=${key}`)).toEqual(
    signers,
  );
});

test.each([
  ['kube-apiserver-client', SIGNER.apiServerClient],
  ['kubelet-client', SIGNER.apiServerClientNodeAgent],
  ['kubelet-serving', SIGNER.nodeAgentServing],
  ['legacy-unknown', SIGNER.legacyUnknown],
])('the files for %s apply to no other signer', (flag, signer) => {
  const own = [`--cluster-signing-${flag}-cert-file=${cert}`, `--cluster-signing-${flag}-key-file=${key}`];
  expect(signingProblems(flags(...own))).toEqual([]);
  expect(givenTo(...own)).toEqual([signer]);
  expect(signingProblems(flags(...own.slice(1)))).toEqual([
    `--cluster-signing-${flag}-cert-file and --cluster-signing-${flag}-key-file must be given together`,
  ]);
});

test('general files and files of one signer exclude each other', () => {
  const problems = signingProblems(
    flags(
      '--cluster-signing-cert-file=a',
      '--cluster-signing-key-file=b',
      '--cluster-signing-kubelet-client-cert-file=c',
      '--cluster-signing-kubelet-client-key-file=d',
    ),
  );
  expect(problems).toEqual([expect.stringContaining('cannot stand beside it')]);
});

test('certificates are valid for a year, or for the duration of the flag or of its former name', () => {
  const files = [`--cluster-signing-cert-file=${cert}`, `--cluster-signing-key-file=${key}`];
  const lifetimeOf = (...argv: readonly string[]) =>
    openSigning(flags(...files, ...argv), silentLog)?.lifetimeMs;
  expect(lifetimeOf()).toBe(365 * 86_400_000);
  expect(lifetimeOf('--cluster-signing-duration=1h')).toBe(3_600_000);
  expect(lifetimeOf('--experimental-cluster-signing-duration=2h')).toBe(7_200_000);
  expect(signingProblems(flags('--cluster-signing-duration=0'))).toEqual([
    '--cluster-signing-duration must be more than 0',
  ]);
});

test('unusable files are refused at start with their name', () => {
  writeFileSync(key, makeCa({ commonName: 'other', validDays: 1 }).privateKeyPem);
  const open = () =>
    openSigning(flags(`--cluster-signing-cert-file=${cert}`, `--cluster-signing-key-file=${key}`), silentLog);
  expect(open).toThrow(SigningFilesError);
  expect(open).toThrow(`--cluster-signing-cert-file ${cert}: the private key does not match the certificate`);
});
