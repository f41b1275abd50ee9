import type { SniCertificate } from '../../engine/server/sni-certificates';

export type ParsedSniCertificates =
  | { readonly ok: true; readonly certificates: readonly SniCertificate[] }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Parses the values of `--tls-sni-cert-key`, each in the form `<certificate file>,<key file>[:<name>,…]`. */
export function parseSniCertificates(values: readonly string[]): ParsedSniCertificates {
  const certificates: SniCertificate[] = [];
  const errors: string[] = [];
  for (const value of values.filter((each) => each !== '' && each !== '[]')) {
    const colon = value.indexOf(':');
    const files = (colon < 0 ? value : value.slice(0, colon)).split(',').map((file) => file.trim());
    const names =
      colon < 0
        ? []
        : value
            .slice(colon + 1)
            .split(',')
            .map((name) => name.trim());
    const [certFile = '', keyFile = ''] = files;
    if (files.length !== 2 || certFile === '' || keyFile === '') {
      errors.push(
        `--tls-sni-cert-key must be <certificate file>,<key file>, optionally with :<name>,<name>, not "${value}"`,
      );
    } else if (names.includes('')) errors.push(`--tls-sni-cert-key: a name is empty in "${value}"`);
    else certificates.push({ files: { certFile, keyFile }, names });
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, certificates };
}
