import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
} from './dns-names';

/**
 * What is wrong with a name of one resource; empty for a good one. With `isPrefix` the text is a `generateName`, to which random
 * characters will be added.
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
 * A prefix may end in a dash. Upstream replaces the last two characters, so that a bad character before the dash is told only
 * with the name itself; kept, so that the same causes are reported.
 */
function maskTrailingDash(name: string): string {
  return name.endsWith('-') ? `${name.slice(0, Math.max(0, name.length - 2))}a` : name;
}
