import { silentLog } from '../../../shared/log/log';
import { NAMESPACE } from '../../../shared/names';
import { patience } from '../../../shared/testing/eventually';
import type { TestCertificate } from '../../../shared/certs/testing/test-certificates';
import { testAuthority } from '../../../shared/certs/testing/test-certificates';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { AuthenticationInfo, AuthenticationInfoOptions } from './authentication-info';
import { createAuthenticationInfo } from './authentication-info';

const URL = `/api/v1/namespaces/${NAMESPACE.system}/configmaps/extension-apiserver-authentication`;
const NAMES = {
  allowedNames: ['front'],
  usernameHeaders: ['X-Remote-User'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};

let api: InProcessApi;
let now = 0;
beforeEach(async () => {
  api = await startInProcessApi();
  now = Date.now();
});
afterEach(async () => api.close());

function bundleOf(...certificates: readonly TestCertificate[]) {
  const content = { pem: '', anchors: certificates.map(({ parsed }) => parsed) };
  return { current: () => content };
}

function replica(parts: Partial<AuthenticationInfoOptions>): AuthenticationInfo {
  const { store, registry } = api.plane;
  return createAuthenticationInfo({
    store,
    registry,
    clients: undefined,
    proxies: undefined,
    clock: { now: () => now },
    log: silentLog,
    ...parts,
  });
}

async function reconcile(parts: Partial<AuthenticationInfoOptions>): Promise<void> {
  await replica(parts).reconcile(patience());
}

async function data(): Promise<Record<string, string>> {
  const { code, json } = await api.call('GET', URL);
  expect(code).toBe(200);
  return json.data;
}

test('clients and proxies are published in the format that extension API servers expect', async () => {
  const [clients, proxies] = [testAuthority(), testAuthority()];
  await reconcile({
    clients: bundleOf(clients),
    proxies: { bundle: bundleOf(proxies), names: NAMES },
  });
  expect(await data()).toEqual({
    'client-ca-file': clients.pem,
    'requestheader-client-ca-file': proxies.pem,
    'requestheader-allowed-names': '["front"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  });
});

test('without proxies, only client authentication is published', async () => {
  const clients = testAuthority();
  await reconcile({ clients: bundleOf(clients) });
  expect(await data()).toEqual({ 'client-ca-file': clients.pem });
});

test('replicas of different setups add to each other, and correct data is not written again', async () => {
  const [first, second, proxies] = [testAuthority(), testAuthority(), testAuthority()];
  const one = { clients: bundleOf(first), proxies: { bundle: bundleOf(proxies), names: NAMES } };
  const two = {
    clients: bundleOf(second, first),
    proxies: { bundle: bundleOf(proxies), names: { ...NAMES, allowedNames: ['back', 'front'] } },
  };
  await reconcile(one);
  await reconcile(two);
  await reconcile({ clients: bundleOf(second) });
  expect(await data()).toMatchObject({
    'client-ca-file': first.pem + second.pem,
    'requestheader-client-ca-file': proxies.pem,
    'requestheader-allowed-names': '["front","back"]',
  });
  const before = await api.call('GET', URL);
  await Promise.all([reconcile(one), reconcile(two)]);
  expect((await api.call('GET', URL)).text).toBe(before.text);
});

test('expired certificates are removed, and unreadable data is replaced', async () => {
  const old = testAuthority({ notAfterMs: now + 5_000 });
  const lasting = testAuthority();
  await reconcile({ clients: bundleOf(old) });
  expect(await data()).toEqual({ 'client-ca-file': old.pem });
  now += 10_000;
  await reconcile({ clients: bundleOf(lasting) });
  expect(await data()).toEqual({ 'client-ca-file': lasting.pem });
  await api.call('PATCH', URL, { body: { data: { 'client-ca-file': 'rubbish', note: 'mine' } } });
  await data();
  await reconcile({ clients: bundleOf(lasting) });
  expect(await data()).toEqual({ 'client-ca-file': lasting.pem, note: 'mine' });
});

test('replicas that start concurrently all succeed', async () => {
  const authorities = [testAuthority(), testAuthority(), testAuthority()];
  await Promise.all(authorities.map(async (each) => reconcile({ clients: bundleOf(each) })));
  const { 'client-ca-file': bundle } = await data();
  for (const { pem } of authorities) expect(bundle).toContain(pem);
});
