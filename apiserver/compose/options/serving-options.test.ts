import { parseFlags } from '../../../shared/flags/parse-flags';
import { completeServing } from './serving-options';
import { FLAG_ROWS } from './flag-rows';

function serving(...argv: readonly string[]) {
  const parsed = parseFlags(FLAG_ROWS, argv);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return completeServing(parsed.values);
}

test('cipher suites are mapped to OpenSSL, and those of TLS 1.3 remain enabled', () => {
  const completed = serving(
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256',
  );
  expect(completed).toMatchObject({
    options: {
      ciphers:
        'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    },
  });
  expect(serving()).toMatchObject({ options: { ciphers: undefined, sniCertificates: [] } });
});

test('unknown or broken suites, and certificates without a key, are rejected at once', () => {
  expect(
    serving(
      '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA,TLS_AES_128_GCM_SHA25',
      '--tls-sni-cert-key=a.crt',
      '--tls-sni-cert-key=a.crt,a.key:x,',
    ),
  ).toEqual({
    ok: false,
    errors: [
      '--tls-cipher-suites: TLS_RSA_WITH_RC4_128_SHA is broken and not available',
      '--tls-cipher-suites: unknown suite TLS_AES_128_GCM_SHA25; did you mean TLS_AES_128_GCM_SHA256?',
      '--tls-sni-cert-key must be <certificate file>,<key file>, optionally with :<name>,<name>, not "a.crt"',
      '--tls-sni-cert-key: a name is empty in "a.crt,a.key:x,"',
    ],
  });
});

test('SNI certificates are read in their order', () => {
  expect(
    serving('--tls-sni-cert-key=a.crt,a.key', '--tls-sni-cert-key=b.crt,b.key:*.b.com,b.com'),
  ).toMatchObject({
    options: {
      sniCertificates: [
        { files: { certFile: 'a.crt', keyFile: 'a.key' }, names: [] },
        { files: { certFile: 'b.crt', keyFile: 'b.key' }, names: ['*.b.com', 'b.com'] },
      ],
    },
  });
});

test('browser headers are read from two flags, and are absent without them', () => {
  expect(serving('--cors-allowed-origins=')).toMatchObject({ options: { browsers: undefined } });
  const completed = serving(
    '--cors-allowed-origins=^https://ui\\.example\\.com$,localhost',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
  );
  expect(completed).toMatchObject({
    options: { browsers: { strictTransport: 'max-age=31536000; includeSubDomains' } },
  });
  const origins = completed.ok ? (completed.options.browsers?.origins ?? []) : [];
  expect(origins.map(({ test: matches }) => matches('http://localhost:8080'))).toEqual([false, true]);
});

test('invalid origin expressions, and unknown directives, are rejected', () => {
  expect(
    serving('--cors-allowed-origins=(', '--strict-transport-security-directives=max-age,forever'),
  ).toMatchObject({
    errors: [
      expect.stringContaining('--cors-allowed-origins: error parsing regexp: missing closing )'),
      '--strict-transport-security-directives: "max-age" is none of max-age=<seconds>, includeSubDomains and preload',
      '--strict-transport-security-directives: "forever" is none of max-age=<seconds>, includeSubDomains and preload',
    ],
  });
});

test('HTTP/2 is enabled by default, with the limits of v1.21', () => {
  expect(serving('--enable-http2=false')).toMatchObject({ options: { http2: undefined } });
  expect(serving()).toMatchObject({
    options: { http2: { streamsMax: 250, goawayChance: 0 } },
  });
  expect(serving('--http2-max-streams-per-connection=40', '--goaway-chance=.001')).toMatchObject({
    options: { http2: { streamsMax: 40, goawayChance: 0.001 } },
  });
  expect(serving('--goaway-chance=0.03')).toMatchObject({
    errors: ['--goaway-chance must be a number from 0 to 0.02, not "0.03"'],
  });
});
