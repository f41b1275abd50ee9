import { suggestion } from '../../../shared/flags/suggestion';
import { ownKeyMap } from '../../../shared/own-key-map';

/** Maps the names of flags to those of OpenSSL. */
const SUITES = ownKeyMap<string>({
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
});

/** Suites of TLS 1.3. They are always enabled and may be listed. */
const SUITES_13 = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
] as const;

/** Suites of v1.21's list that the runtime does not include. */
const BROKEN: ReadonlySet<string> = new Set([
  'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
  'TLS_RSA_WITH_RC4_128_SHA',
]);

export const CIPHER_SUITE_NAMES: readonly string[] = [...SUITES.keys(), ...SUITES_13];

export type ParsedSuites =
  /** `ciphers` is OpenSSL's list; undefined means the runtime's default. */
  | { readonly ok: true; readonly ciphers: string | undefined }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Parses the names of `--tls-cipher-suites`, in order of preference. */
export function parseCipherSuites(names: readonly string[]): ParsedSuites {
  const wanted = names.filter((name) => name !== '');
  const errors = wanted
    .filter((name) => !CIPHER_SUITE_NAMES.includes(name))
    .map((name) =>
      BROKEN.has(name)
        ? `--tls-cipher-suites: ${name} is broken and not available`
        : `--tls-cipher-suites: unknown suite ${name}${suggestion(name, CIPHER_SUITE_NAMES)}`,
    );
  if (errors.length > 0) return { ok: false, errors };
  if (wanted.length === 0) return { ok: true, ciphers: undefined };
  const before13 = wanted.flatMap((name) => SUITES.get(name) ?? []);
  return { ok: true, ciphers: [...SUITES_13, ...before13].join(':') };
}
