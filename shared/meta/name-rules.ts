import { GROUP } from '../names';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isLonger,
  maxLengthProblem,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
} from './dns-names';
import { resourceNameOf } from '../object/object';

/**
 * What is wrong with a name of one resource; empty for a good one. With `isPrefix` the text is a `generateName`, to which random
 * characters will be added.
 */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export const subdomainName: NameRule = dnsRule(dns1123SubdomainProblems);
export const labelName: NameRule = dnsRule(dns1123LabelProblems);
const label1035Name: NameRule = dnsRule(dns1035LabelProblems);
export const pathSegmentName: NameRule = (name, isPrefix) =>
  isPrefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

/** RBAC names such as `system:node`: a prefix gets no milder treatment. */
const rbacName: NameRule = (name) => pathSegmentProblems(name);

/** A CronJob appends 11 characters to its name for each Job, whose name may have 63. */
const CRON_JOB_NAME_BYTES_MAX = 52;
const cronJobName: NameRule = (name, isPrefix) => [
  ...subdomainName(name, isPrefix),
  ...(!isPrefix && isLonger(name, CRON_JOB_NAME_BYTES_MAX)
    ? [maxLengthProblem(CRON_JOB_NAME_BYTES_MAX)]
    : []),
];

/** `<group>.<resource>`. */
const storageVersionName: NameRule = (name) => {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123SubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
};

/**
 * The resources whose names are not DNS subdomains, by `resource` or `resource.group` as `resourceNameOf` spells it.
 * CustomResourceDefinitions and APIServices have further rules that need the spec; their strategies state them.
 */
export const NAME_RULE_OF_RESOURCE: ReadonlyMap<string, NameRule> = new Map<string, NameRule>(
  (
    [
      [GROUP.core, 'namespaces', labelName],
      [GROUP.core, 'services', label1035Name],
      [GROUP.core, 'events', pathSegmentName],
      [GROUP.apiregistration, 'apiservices', pathSegmentName],
      [GROUP.batch, 'cronjobs', cronJobName],
      [GROUP.certificates, 'certificatesigningrequests', pathSegmentName],
      [GROUP.apiserverinternal, 'storageversions', storageVersionName],
      [GROUP.policy, 'poddisruptionbudgets', pathSegmentName],
      [GROUP.rbac, 'clusterrolebindings', rbacName],
      [GROUP.rbac, 'clusterroles', rbacName],
      [GROUP.rbac, 'rolebindings', rbacName],
      [GROUP.rbac, 'roles', rbacName],
    ] as const
  ).map(([group, resource, rule]) => [resourceNameOf({ group, resource }), rule]),
);

/** The rule of one resource; a DNS subdomain unless the table says otherwise (also for custom resources). */
export function nameRuleOf(resource: { readonly group: string; readonly resource: string }): NameRule {
  return NAME_RULE_OF_RESOURCE.get(resourceNameOf(resource)) ?? subdomainName;
}

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
