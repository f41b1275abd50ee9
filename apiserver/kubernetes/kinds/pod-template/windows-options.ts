import type { WindowsSecurityContextOptions } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { invalidForEach } from '../rules/primitives';

const CREDENTIAL_SPEC_KIB_MAX = 64;
const DOMAIN_CHARS_MAX = 255;
const USER_CHARS_MAX = 104;

/** The `windowsOptions` of a security context. */
export function validateWindowsOptions(options: WindowsSecurityContextOptions, path: string): FieldError[] {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  return [
    ...(specName === undefined
      ? []
      : invalidForEach(dns1123SubdomainProblems(specName), specName, `${path}.gmsaCredentialSpecName`)),
    ...(spec === undefined ? [] : credentialSpec(spec, `${path}.gmsaCredentialSpec`)),
    ...(user === undefined
      ? []
      : userProblems(user).map((why) => invalid(`${path}.runAsUserName`, user, why))),
  ];
}

function credentialSpec(spec: string, path: string): FieldError[] {
  if (spec === '') return [invalid(path, spec, 'gmsaCredentialSpec cannot be an empty string')];
  if (Buffer.byteLength(spec) <= CREDENTIAL_SPEC_KIB_MAX * 1024) return [];
  const why = `gmsaCredentialSpec size must be under ${String(CREDENTIAL_SPEC_KIB_MAX)} KiB`;
  return [invalid(path, '', why)];
}

// eslint-disable-next-line no-control-regex
const CONTROL = /[\0-\x1f\x7f]/;
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DNS = new RegExp(`^${DNS_PART}(?:\\.${DNS_PART})*$`);
const USER_WITHOUT = /["/\\:;|=,+*?<>@[\]]/;

/** `DOMAIN\user` or `user`. */
function userProblems(given: string): string[] {
  if (given === '') return ['runAsUserName cannot be an empty string'];
  if (CONTROL.test(given)) return ['runAsUserName cannot contain control characters'];
  const parts = given.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const problems: string[] = [];
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const user = parts.at(-1) ?? '';
  if (domain !== undefined && domain.length > DOMAIN_CHARS_MAX) {
    problems.push(`runAsUserName's Domain length must be under ${String(DOMAIN_CHARS_MAX + 1)} characters`);
  }
  if (domain !== undefined && !NETBIOS.test(domain) && !DNS.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (user.length > USER_CHARS_MAX) {
    problems.push(`runAsUserName's User length must not be longer than ${String(USER_CHARS_MAX)} characters`);
  }
  if (user !== '' && /^[. ]+$/.test(user)) {
    problems.push("runAsUserName's User cannot contain only periods or spaces");
  }
  if (USER_WITHOUT.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return problems;
}
