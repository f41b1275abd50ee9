import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { EXEC_CREDENTIAL } from './exec-plugin';
import { KubeconfigError, loadKubeconfig } from './kubeconfig';

function textOf(cluster: object, user: object, context: object = {}): string {
  return JSON.stringify({
    'current-context': 'main',
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', ...context } },
      { name: 'other', context: { cluster: 'c', namespace: 'team' } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  });
}

const V1BETA1 = EXEC_CREDENTIAL.apiVersions[0] ?? '';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('the current context gives server, trust and credentials, data before files', () => {
  const { client, context, namespace } = loadKubeconfig({
    text: textOf(
      {
        'certificate-authority-data': base64('CA'),
        'certificate-authority': '/not/read',
        'tls-server-name': 'api.example',
        'insecure-skip-tls-verify': true,
      },
      { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY'), token: 'secret' },
    ),
  });
  expect({ context, namespace }).toEqual({ context: 'main', namespace: 'default' });
  expect(client).toEqual({
    server: 'https://127.0.0.1:6443',
    ca: Buffer.from('CA'),
    cert: Buffer.from('CERT'),
    key: Buffer.from('KEY'),
    tlsServerName: 'api.example',
    insecureSkipTlsVerify: true,
    token: 'secret',
  });
});

test('file names are relative to the kubeconfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  try {
    writeFileSync(join(folder, 'ca.pem'), 'CA');
    writeFileSync(
      join(folder, 'config'),
      textOf({ 'certificate-authority': 'ca.pem' }, { tokenFile: 'token' }, { namespace: 'team' }),
    );
    const { client, namespace } = loadKubeconfig({ path: join(folder, 'config') });
    expect(client.ca).toEqual(Buffer.from('CA'));
    expect(client.tokenFile).toBe(join(folder, 'token'));
    expect(namespace).toBe('team');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('several files are merged: the first file with a value wins, and missing files are skipped', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name, 'config');
    mkdirSync(join(folder, name));
    writeFileSync(path, text);
    return path;
  };
  try {
    const first = file(
      'first',
      JSON.stringify({ clusters: [{ name: 'c', cluster: { server: 'https://first' } }] }),
    );
    const second = file('second', textOf({}, { tokenFile: 'token' }));
    expect(loadKubeconfig({ paths: [join(folder, 'missing'), first, second] }).client).toEqual({
      server: 'https://first',
      tokenFile: join(folder, 'second', 'token'),
    });
    expect(() => loadKubeconfig({ paths: [first] })).toThrow(
      `${first}: the kubeconfig names no current-context`,
    );
    expect(() => loadKubeconfig({ paths: [join(folder, 'missing')] })).toThrow(/no kubeconfig at .*missing/u);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['that is not YAML', '{a: [', /not YAML/],
  ['with a wrong server', textOf({ server: 'localhost' }, {}), /not an http/],
])('the refusal of a file %s names the file', (_name, text, reason) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const path = join(folder, 'config');
  try {
    writeFileSync(path, text);
    const load = (): unknown => loadKubeconfig({ path });
    expect(load).toThrow(reason);
    expect(load).toThrow(`${path}: `);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(EXEC_CREDENTIAL.apiVersions)('a plugin of %s is accepted in either dialect', (apiVersion) => {
  expect(
    loadKubeconfig({ text: textOf({}, { exec: { command: 'x', apiVersion } }) }).client.exec,
  ).toMatchObject({
    apiVersion,
  });
});

test('a named context overrides the current one, and may have no user', () => {
  const config = loadKubeconfig({ text: textOf({}, { token: 'secret' }), context: 'other' });
  expect(config).toEqual({
    client: { server: 'https://127.0.0.1:6443' },
    context: 'other',
    namespace: 'team',
  });
});

test.each([
  ['not YAML', '{a: [', /not YAML/],
  ['empty', '', /empty/],
  ['without a current context', '{}', /no current-context/],
  ['with a context that is not there', '{"current-context": "x"}', /no context named "x"/],
  ['with a server that is no address', textOf({ server: 'localhost' }, {}), /"localhost" is not an http/],
  ['with half a client certificate', textOf({}, { 'client-key-data': base64('K') }), /come together/],
  [
    'with a plugin of no version',
    textOf({}, { exec: { command: 'x' } }),
    /the exec's apiVersion "" is none of/,
  ],
  ['with a plugin that is not named', textOf({}, { exec: {} }), /exec without a command/],
  [
    'with a plugin of another mode',
    textOf({}, { exec: { command: 'x', apiVersion: V1BETA1, interactiveMode: 'Maybe' } }),
    /interactiveMode "Maybe" is none of Never, IfAvailable, Always/,
  ],
  [
    'with a missing file',
    textOf({ 'certificate-authority': '/no/such.pem' }, {}),
    /cannot read \/no\/such.pem/,
  ],
])('a kubeconfig %s is refused with the reason', (_name, text, reason) => {
  expect(() => loadKubeconfig({ text })).toThrow(KubeconfigError);
  expect(() => loadKubeconfig({ text })).toThrow(reason);
});
