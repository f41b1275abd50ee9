import { parseFlags } from '../../../shared/flags/parse-flags';
import type { CompletedOptions } from './complete-options';
import { completeOptions } from './complete-options';
import { FLAG_ROWS } from './flag-rows';
import type { AuthenticationOptions } from './server-options';

function completed(...flags: readonly string[]): CompletedOptions {
  const parsed = parseFlags(FLAG_ROWS, ['--storage-backend=embedded', '--embedded-dir=d', ...flags]);
  if (parsed.outcome === 'errors') return { ok: false, errors: parsed.errors };
  if (parsed.outcome !== 'values') throw new Error('help was requested');
  return completeOptions(parsed.values);
}

function optionsOf(...flags: readonly string[]): AuthenticationOptions {
  const result = completed(...flags);
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result.options.authentication;
}

test('without flags no optional method is enabled', () => {
  expect(optionsOf()).toEqual({
    accountTokens: expect.anything() as unknown,
    anonymous: expect.anything() as unknown,
    bootstrapTokens: false,
  });
});

test('the flags of proxies require the file of their authorities', () => {
  const flags = [
    '--requestheader-client-ca-file=p.crt',
    '--requestheader-allowed-names=a,b',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ];
  expect(optionsOf(...flags).requestHeader).toEqual({
    caFile: 'p.crt',
    allowedNames: ['a', 'b'],
    usernameHeaders: ['X-Remote-User'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  });
  const without = completed(...flags.slice(1));
  expect(without).toMatchObject({
    ok: true,
    warnings: expect.arrayContaining([
      expect.stringMatching(/^no authenticating proxy is trusted without/),
    ]) as unknown,
  });
});

test('an authority for both clients and proxies causes a warning', () => {
  expect(
    completed('--client-ca-file=c', '--requestheader-client-ca-file=c', '--requestheader-username-headers=X'),
  ).toMatchObject({
    ok: true,
    warnings: expect.arrayContaining([expect.stringMatching(/are the same/)]) as unknown,
  });
});

test.each<[readonly string[], string]>([
  [
    ['--requestheader-client-ca-file=p'],
    '--requestheader-client-ca-file needs --requestheader-username-headers',
  ],
  [['--oidc-issuer-url=https://i'], '--oidc-issuer-url and --oidc-client-id must be given together'],
  [['--oidc-client-id=c'], '--oidc-issuer-url and --oidc-client-id must be given together'],
  [
    ['--oidc-issuer-url=http://i', '--oidc-client-id=c'],
    '--oidc-issuer-url must be an https URL, not "http://i"',
  ],
  [
    ['--oidc-issuer-url=https://i', '--oidc-client-id=c', '--oidc-username-claim='],
    '--oidc-username-claim must not be empty',
  ],
  [['--oidc-required-claim=a'], '--oidc-required-claim must be like claim=value, not "a"'],
])('%p is refused', (flags, error) => {
  expect(completed(...flags)).toEqual({ ok: false, errors: [error] });
});

test('an unknown token algorithm is rejected', () => {
  const result = completed('--oidc-issuer-url=https://i', '--oidc-client-id=c', '--oidc-signing-algs=HS256');
  expect(result).toMatchObject({ ok: false, errors: [expect.stringContaining('HS256')] });
});

test.each<[readonly string[], string]>([
  [[], 'https://i#'],
  [['--oidc-username-claim=email'], ''],
  [['--oidc-username-claim=email', '--oidc-username-prefix=e:'], 'e:'],
  [['--oidc-username-prefix=-'], ''],
  [['--oidc-username-prefix=x:'], 'x:'],
])('with %p the prefix of names is "%s"', (flags, usernamePrefix) => {
  const { oidc } = optionsOf('--oidc-issuer-url=https://i', '--oidc-client-id=c', ...flags);
  expect(oidc).toMatchObject({ issuer: 'https://i', clientId: 'c', usernamePrefix, algorithms: ['RS256'] });
});

test('required claims may contain an equals sign, and may be in one flag or several', () => {
  const { oidc } = optionsOf(
    '--oidc-issuer-url=https://i',
    '--oidc-client-id=c',
    '--oidc-required-claim=a=b=c, d = e',
    '--oidc-required-claim=f=',
  );
  expect(oidc?.requiredClaims).toEqual({ a: 'b=c', d: 'e', f: '' });
});

test('the token webhook has the defaults of kube-apiserver', () => {
  expect(optionsOf('--authentication-token-webhook-config-file=w').tokenWebhook).toEqual({
    configFile: 'w',
    version: 'v1beta1',
    ttlMs: 120_000,
  });
});
