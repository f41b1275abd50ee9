import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
} from './dns-names';

/**
 * Returns the problems of a resource's name. With `isPrefix` the text is a `generateName`, to which random
 * characters are appended.
 */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export const subdomainName: NameRule = dnsRule(dns1123SubdomainProblems);
export const labelName: NameRule = dnsRule(dns1123LabelProblems);
export const label1035Name: NameRule = dnsRule(dns1035LabelProblems);
export const pathSegmentName: NameRule = (name, isPrefix) =>
  isPrefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

function dnsRule(problems: (name: string) => string[]): NameRule {
  return (name, isPrefix) => problems(isPrefix ? maskTrailingDash(name) : name);
}

/**
 * Masks a trailing dash of a prefix. Upstream replaces the last two characters, so that a bad character before
 * the dash is reported only with the generated name.
 */
function maskTrailingDash(name: string): string {
  return name.endsWith('-') ? `${name.slice(0, Math.max(0, name.length - 2))}a` : name;
}
