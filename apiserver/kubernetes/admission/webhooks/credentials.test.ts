import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GROUP } from '../../../../shared/names';
import { credentialsOf, webhookConfigurationProblem } from './credentials';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'webhook-users-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function configurationOf(config: object): object {
  const kubeConfigFile = path.join(dir, 'config');
  writeFileSync(kubeConfigFile, JSON.stringify(config));
  return { kind: 'WebhookAdmissionConfiguration', apiVersion: `${GROUP.apiserverConfig}/v1`, kubeConfigFile };
}

const userOf = (name: string): object => ({ name, user: { token: name } });

test('the best matching user of a host is chosen', () => {
  const names = ['a.example.org', 'b.example.org:8443', '*.example.org', '*.org:8443', '*'];
  const credentials = credentialsOf(configurationOf({ users: names.map(userOf) }));
  expect(
    (
      [
        ['a.example.org', 443],
        ['a.example.org', 8443],
        ['b.example.org', 443],
        ['b.example.org', 8443],
        ['c.example.org', 443],
        ['c.d.example.org', 443],
        ['c.org', 443],
        ['elsewhere', 1],
      ] as const
    ).map(([host, port]) => credentials(host, port).token),
  ).toEqual([
    'a.example.org',
    '*.org:8443',
    '*.example.org',
    'b.example.org:8443',
    '*.example.org',
    '*.example.org',
    '*',
    '*',
  ]);
});

test('without a match it is the user of the current context, or none', () => {
  const contexts = [{ name: 'c', context: { user: 'u' } }];
  const current = configurationOf({ users: [userOf('u')], contexts, 'current-context': 'c' });
  expect(credentialsOf(current)('x', 1).token).toBe('u');
  expect(credentialsOf(configurationOf({ users: [userOf('u')] }))('x', 1)).toEqual({});
  expect(credentialsOf(undefined)('x', 1)).toEqual({});
});

test('an unusable configuration is an error at start', () => {
  const good = configurationOf({ users: [] });
  expect(webhookConfigurationProblem(undefined)).toBeUndefined();
  expect(webhookConfigurationProblem(good)).toBeUndefined();
  expect(webhookConfigurationProblem(7)).toBe('it is no object');
  expect(webhookConfigurationProblem({ ...good, kind: 'Other' })).toMatch(/^the kind must be /);
  expect(webhookConfigurationProblem({ ...good, kubeConfigFile: 'config' })).toMatch(
    /must be an absolute file path/,
  );
  expect(webhookConfigurationProblem({ ...good, kubeConfigFile: path.join(dir, 'none') })).toMatch(
    /cannot read/,
  );
  expect(
    webhookConfigurationProblem({
      kind: 'WebhookAdmission',
      apiVersion: `${GROUP.apiserverConfig}/v1alpha1`,
      kubeConfigFile: '',
    }),
  ).toBeUndefined();
});
