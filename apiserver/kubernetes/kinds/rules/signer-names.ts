import { SIGNER } from '../../../../shared/names';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Problems } from './primitives';

const DOMAIN_BYTES_MAX = 253;

/** A domain, a slash, and a path that may be a domain and a label. */
const SIGNER_BYTES_MAX = DOMAIN_BYTES_MAX + 1 + 253 + 1 + 63;
const OWN_DOMAIN = SIGNER.apiServerClient.slice(0, SIGNER.apiServerClient.indexOf('/'));

/** `example.com/signer`: whose signer it is, and which. */
export function validateSignerName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path, 'signerName must be provided')];
  const [domain = '', rest, ...more] = name.split('/');
  if (rest === undefined || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, form)];
  }
  return [
    ...(domain === OWN_DOMAIN ? [] : validateDomain(domain, path)),
    ...wrongLabels(rest, path, dns1123SubdomainProblems),
    ...(Buffer.byteLength(name) > SIGNER_BYTES_MAX ? [tooLong(path, name, SIGNER_BYTES_MAX)] : []),
  ];
}

function validateDomain(domain: string, path: string): FieldError[] {
  const isTooLong = Buffer.byteLength(domain) > DOMAIN_BYTES_MAX;
  return [
    ...(isTooLong ? [tooLong(path, domain, DOMAIN_BYTES_MAX)] : []),
    ...wrongLabels(domain, path, dns1123LabelProblems),
    ...(domain.includes('.')
      ? []
      : [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
  ];
}

/** What is wrong with the first wrong label. */
function wrongLabels(value: string, path: string, problemsOf: Problems): FieldError[] {
  const label = value.split('.').find((each) => problemsOf(each).length > 0);
  if (label === undefined) return [];
  return problemsOf(label).map((problem) =>
    invalid(path, value, `validating label ${goQuote(label)}: ${problem}`),
  );
}

/** True for a signer of the project's own domain. */
export function isOwnSigner(name: string): boolean {
  return name.startsWith(`${OWN_DOMAIN}/`);
}
