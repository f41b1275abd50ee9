import { parseFlags } from '../../../shared/flags/parse-flags';
import { ACCOUNT_TOKEN } from '../../../shared/names';
import { completeOptions } from './complete-options';
import { FLAG_ROWS } from './flag-rows';

function complete(...argv: string[]) {
  const parsed = parseFlags(FLAG_ROWS, ['--etcd-servers=http://127.0.0.1:2379', ...argv]);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return completeOptions(parsed.values);
}

function options(...argv: string[]) {
  const completed = complete(...argv);
  if (!completed.ok) throw new Error(completed.errors.join('\n'));
  return completed.options.authentication.accountTokens;
}

test('by default the server signs with a generated key, and the issuer is the audience', () => {
  expect(options('--cert-dir=d')).toEqual({
    issuer: ACCOUNT_TOKEN.issuer,
    signingKey: { from: 'self-made', dir: 'd' },
    keyFiles: [],
    servingKeyFile: undefined,
    apiAudiences: [ACCOUNT_TOKEN.issuer],
    maxExpirationSeconds: undefined,
    extendsExpiration: true,
    keysUrl: undefined,
    lookup: true,
  });
});

test('all flags are applied', () => {
  expect(
    options(
      '--service-account-issuer=https://i',
      '--service-account-signing-key-file=s',
      '--service-account-key-file=a',
      '--service-account-key-file=b',
      '--tls-cert-file=c',
      '--tls-private-key-file=k',
      '--api-audiences=x,y',
      '--service-account-max-token-expiration=2h',
      '--service-account-extend-token-expiration=false',
      '--service-account-jwks-uri=https://k/keys',
      '--service-account-lookup=false',
    ),
  ).toEqual({
    issuer: 'https://i',
    signingKey: { from: 'file', file: 's' },
    keyFiles: ['a', 'b'],
    servingKeyFile: 'k',
    apiAudiences: ['x', 'y'],
    maxExpirationSeconds: 7_200,
    extendsExpiration: false,
    keysUrl: 'https://k/keys',
    lookup: false,
  });
});

test.each([
  [['--service-account-issuer='], '--service-account-issuer must not be empty'],
  [['--service-account-issuer=a b:c'], 'is no URL'],
  [['--service-account-max-token-expiration=59m'], 'between 1h and 2^32 seconds'],
  [['--service-account-jwks-uri=http://k'], 'must be an https URL'],
  [['--cert-dir=', '--tls-cert-file=c', '--tls-private-key-file=k'], '--service-account-signing-key-file'],
])('%j is rejected', (argv, problem) => {
  const completed = complete(...argv);
  expect(completed.ok ? [] : completed.errors).toEqual([expect.stringContaining(problem)]);
});

test('a maximum expiration below that of extended tokens causes a warning', () => {
  const warnings = (...argv: string[]): readonly string[] => {
    const completed = complete('--service-account-max-token-expiration=2h', ...argv);
    return completed.ok ? completed.warnings.filter((each) => each.includes('cap')) : [];
  };
  expect(warnings()).toHaveLength(1);
  expect(warnings('--service-account-extend-token-expiration=false')).toEqual([]);
});
