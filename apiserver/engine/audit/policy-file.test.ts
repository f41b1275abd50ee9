import { writeFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { GROUP } from '../../../shared/names';
import { parsePolicy, readPolicyFile } from './policy-file';
import { temporaryDirectory } from '../../testing/audit/audited-server';

const HEAD = `apiVersion: ${GROUP.audit}/v1\nkind: Policy\n`;

function parse(text: string) {
  return parsePolicy(Buffer.from(text));
}

test('a policy in YAML is read with all of its fields', () => {
  const { policy, version } = parse(`${HEAD}
metadata: {name: p}
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  users: [alice]
  userGroups: [writers]
  verbs: [create]
  namespaces: ["", x]
  omitStages: [Panic]
  resources:
  - group: apps
    resources: [deployments, "*/scale"]
    resourceNames: [web]
  - {}
- level: None
  nonResourceURLs: ["/healthz*", "*"]
`);
  expect(version).toBe('v1');
  expect(policy).toEqual({
    omitStages: ['RequestReceived'],
    rules: [
      {
        level: 'RequestResponse',
        users: ['alice'],
        userGroups: ['writers'],
        verbs: ['create'],
        namespaces: ['', 'x'],
        nonResourceURLs: [],
        omitStages: ['Panic'],
        resources: [
          { group: 'apps', resources: ['deployments', '*/scale'], resourceNames: ['web'] },
          { group: '', resources: [], resourceNames: [] },
        ],
      },
      {
        level: 'None',
        users: [],
        userGroups: [],
        verbs: [],
        namespaces: [],
        nonResourceURLs: ['/healthz*', '*'],
        omitStages: [],
        resources: [],
      },
    ],
  });
});

test.each(['v1beta1', 'v1alpha1'])('a policy of %s is read too', (version) => {
  const text = `apiVersion: ${GROUP.audit}/${version}\nkind: Policy\nrules: [{level: None}]`;
  expect(parse(text)).toMatchObject({ version, policy: { rules: [{ level: 'None' }] } });
});

test.each([
  ['another kind', `apiVersion: ${GROUP.audit}/v1\nkind: Event\nrules: [{level: None}]`, 'kind Policy'],
  ['another version', `apiVersion: ${GROUP.audit}/v2\nkind: Policy\nrules: [{level: None}]`, 'apiVersions'],
  ['no object', 'just text', 'kind Policy'],
  ['broken YAML', `${HEAD}rules: [`, 'yaml'],
  ['no rules', HEAD, 'rules: must not be empty'],
  ['rules that are no list', `${HEAD}rules: {level: None}`, 'rules: must be a list'],
  ['no level', `${HEAD}rules: [{}]`, 'rules[0].level: must be one of'],
  ['an unknown level', `${HEAD}rules: [{level: All}]`, 'rules[0].level: must be one of'],
  ['an unknown field', `${HEAD}rules: [{level: None, user: [x]}]`, 'rules[0].user: is no known field'],
  ['an unknown field at the top', `${HEAD}rule: []\nrules: [{level: None}]`, 'rule: is no known field'],
  [
    'a number among users',
    `${HEAD}rules: [{level: None, users: [1]}]`,
    'rules[0].users[0]: must be a string',
  ],
  ['an unknown stage', `${HEAD}rules: [{level: None, omitStages: [Before]}]`, 'rules[0].omitStages[0]'],
  ['an unknown stage for all', `${HEAD}omitStages: [Before]\nrules: [{level: None}]`, 'omitStages[0]'],
  [
    'a URL without a slash',
    `${HEAD}rules: [{level: None, nonResourceURLs: [healthz]}]`,
    'begin with a slash',
  ],
  ['a star inside', `${HEAD}rules: [{level: None, nonResourceURLs: ["/a*/b"]}]`, 'at its end only'],
  [
    'URLs and namespaces',
    `${HEAD}rules: [{level: None, namespaces: [x], nonResourceURLs: [/a]}]`,
    'cannot be about both',
  ],
  [
    'a group with a version',
    `${HEAD}rules: [{level: None, resources: [{group: apps/v1}]}]`,
    'rules[0].resources[0].group',
  ],
  [
    'names without resources',
    `${HEAD}rules: [{level: None, resources: [{resourceNames: [a]}]}]`,
    'rules[0].resources[0].resourceNames: needs at least one resource',
  ],
])('a policy with %s is refused', (_what, text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test('all errors are reported at once with the name of the file', () => {
  const dir = temporaryDirectory();
  const file = path.join(dir, 'policy.yaml');
  writeFileSync(file, `${HEAD}rules: [{level: All}, {level: None, verb: [get]}]`);
  expect(() => readPolicyFile(file)).toThrow(/policy\.yaml cannot be used: rules\[0\].+; rules\[1\]\.verb/);
  rmSync(dir, { recursive: true });
  expect(() => readPolicyFile(file)).toThrow(/policy\.yaml cannot be used: .*ENOENT/);
});
