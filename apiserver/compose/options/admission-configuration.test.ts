import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAdmissionConfiguration } from './admission-configuration';
import { completeAdmission } from './admission-options';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'admission-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function fileOf(text: string, name = 'admission.yaml'): string {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  return file;
}

test('plugins are configured in the file itself or in a referenced file', () => {
  fileOf('podNodeSelectorPluginConfig: { ns: "a=b" }', 'selectors.yaml');
  const file = fileOf(`
kind: AdmissionConfiguration
plugins:
  - name: PodNodeSelector
    path: selectors.yaml
  - name: PodTolerationRestriction
    configuration: { default: [] }
`);
  const read = readAdmissionConfiguration(file);
  expect(read.ok && [...read.configurations]).toEqual([
    ['PodNodeSelector', { podNodeSelectorPluginConfig: { ns: 'a=b' } }],
    ['PodTolerationRestriction', { default: [] }],
  ]);
});

test('no file configures nothing', () => {
  expect(readAdmissionConfiguration('')).toEqual({ ok: true, configurations: new Map() });
});

test.each([
  ['kind: Pod', 'the kind must be AdmissionConfiguration'],
  ['kind: AdmissionConfiguration\nplugins: [{ name: Nope }]', 'there is no plugin named "Nope"'],
  [
    'kind: AdmissionConfiguration\nplugins: [{ name: Priority }, { name: Priority }]',
    'Priority is listed more than once',
  ],
  ['kind: AdmissionConfiguration\nplugins: [{ name: Priority, path: gone.yaml }]', 'gone.yaml'],
  ['{', 'yaml'],
])('%j is rejected', (text, problem) => {
  const read = readAdmissionConfiguration(fileOf(text));
  expect(read.ok ? '' : read.problem).toMatch(/^--admission-control-config-file .*admission\.yaml: /);
  expect(read.ok ? '' : read.problem).toContain(problem);
});

test('a plugin that requires a configuration is rejected without one', () => {
  const completed = completeAdmission({
    enableAdmissionPlugins: ['EventRateLimit'],
    disableAdmissionPlugins: [],
    admissionControlConfigFile: '',
    defaultNotReadyTolerationSeconds: 300,
    defaultUnreachableTolerationSeconds: 300,
    admissionWebhookOutageFailures: 5,
    admissionWebhookMaxRequestsInflight: 256,
  });
  expect(completed).toEqual({
    ok: false,
    errors: ['the configuration of EventRateLimit: at least one limit is needed'],
  });
});

test('an enabled plugin is rejected with a configuration that it does not support', () => {
  const flags = {
    enableAdmissionPlugins: [],
    disableAdmissionPlugins: [],
    admissionControlConfigFile: fileOf(`
kind: AdmissionConfiguration
plugins: [{ name: ResourceQuota, configuration: { kind: ResourceQuotaConfiguration, limitedResources: [{}] } }]
`),
    defaultNotReadyTolerationSeconds: 300,
    defaultUnreachableTolerationSeconds: 300,
    admissionWebhookOutageFailures: 5,
    admissionWebhookMaxRequestsInflight: 256,
  };
  expect(completeAdmission(flags)).toEqual({
    ok: false,
    errors: ['the configuration of ResourceQuota: limitedResources[0] needs a resource'],
  });
  expect(completeAdmission({ ...flags, disableAdmissionPlugins: ['ResourceQuota'] }).ok).toBe(true);
});

test('a plugin cannot be both enabled and disabled', () => {
  const completed = completeAdmission({
    enableAdmissionPlugins: ['Priority', 'AlwaysAdmit'],
    disableAdmissionPlugins: ['Priority'],
    admissionControlConfigFile: '',
    defaultNotReadyTolerationSeconds: 300,
    defaultUnreachableTolerationSeconds: 300,
    admissionWebhookOutageFailures: 5,
    admissionWebhookMaxRequestsInflight: 256,
  });
  expect(completed).toEqual({
    ok: false,
    errors: ['--enable-admission-plugins and --disable-admission-plugins both name Priority'],
  });
});
