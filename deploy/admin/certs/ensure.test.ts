import { X509Certificate } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from 'js-yaml';
import { makeCa } from '../../../shared/certs/certificate';
import type { Workload } from './bundle-store';
import type { EnsureOptions } from './ensure';
import { ensureBundles } from './ensure';
import { expiries } from './expiry';
import { openFolderStore } from './folder-store';
import { parsePlan } from './plan';

const DAY_MS = 86_400_000;
const PLAN = `
authorities:
  - { name: ca, commonName: test-ca, validDays: 3650 }
certificates:
  - { name: serving, authority: ca, commonName: api, hosts: [api.example, 10.0.0.1], usages: [server], validDays: 90 }
  - { name: user, authority: ca, commonName: ann, organizations: [team], usages: [client], validDays: 90, restart: app }
tokenKeys: [tokens]
encryptionKeys: [{ name: encryption, resources: [secrets, things.example.com] }]
passwords: [redis]
`;

let dir = '';
let nowMs = 0;
const clock = { now: () => nowMs };

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'orch-certs-'));
  nowMs = Date.now();
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

async function ensure(plan = PLAN, options: EnsureOptions = {}): Promise<readonly string[]> {
  const done = await ensureBundles(parsePlan(plan), openFolderStore(dir), clock, options);
  return done.map(({ name, action }) => `${action} ${name}`);
}

function file(bundle: string, name: string): string {
  return readFileSync(path.join(dir, bundle, name), 'utf8');
}

test('what is missing is made once, signed by its authority, and kept from then on', async () => {
  expect(await ensure()).toEqual([
    'made ca',
    'made tokens',
    'made encryption',
    'made redis',
    'made serving',
    'made user',
  ]);
  const serving = new X509Certificate(file('serving', 'tls.crt'));
  expect(serving.verify(new X509Certificate(file('serving', 'ca.crt')).publicKey)).toBe(true);
  expect(serving.checkHost('api.example')).toBe('api.example');
  expect(serving.checkIP('10.0.0.1')).toBe('10.0.0.1');
  expect(await ensure()).toEqual([
    'kept ca',
    'kept tokens',
    'kept encryption',
    'kept redis',
    'kept serving',
    'kept user',
  ]);
});

test('keys are not for everybody to read', async () => {
  await ensure();
  for (const [bundle, name] of [
    ['serving', 'tls.key'],
    ['ca', 'tls.key'],
    ['tokens', 'sa.key'],
    ['encryption', 'encrypt.yaml'],
    ['encryption', 'decrypt.yaml'],
    ['redis', 'password'],
  ] as const)
    expect(statSync(path.join(dir, bundle, name)).mode & 0o777).toBe(0o640);
});

test('a certificate is renewed in its last third; its authority and the key for tokens stay', async () => {
  await ensure();
  const authority = file('ca', 'tls.crt');
  const tokens = file('tokens', 'sa.key');
  nowMs += 59 * DAY_MS;
  expect(await ensure()).not.toContain('renewed serving');
  nowMs += 2 * DAY_MS;
  expect(await ensure()).toEqual([
    'kept ca',
    'kept tokens',
    'kept encryption',
    'kept redis',
    'renewed serving',
    'renewed user',
  ]);
  expect(Date.parse(new X509Certificate(file('serving', 'tls.crt')).validTo)).toBeGreaterThan(
    nowMs + 89 * DAY_MS,
  );
  expect([file('ca', 'tls.crt'), file('tokens', 'sa.key')]).toEqual([authority, tokens]);
});

test('a key for what is stored comes as two files: one to write by it, and one only to read', async () => {
  await ensure();
  const providersOf = (name: string): readonly string[] => {
    const { kind, resources } = load(file('encryption', name)) as {
      kind: string;
      resources: readonly { resources: readonly string[]; providers: readonly object[] }[];
    };
    expect(kind).toBe('EncryptionConfiguration');
    expect(resources).toMatchObject([{ resources: ['secrets', 'things.example.com'] }]);
    return resources[0]?.providers.flatMap((each) => Object.keys(each)) ?? [];
  };
  expect(providersOf('encrypt.yaml')).toEqual(['secretbox', 'identity']);
  expect(providersOf('decrypt.yaml')).toEqual(['identity', 'secretbox']);
  const keyOf = (name: string): string => /secret: (\S+)/u.exec(file('encryption', name))?.[1] ?? '';
  expect(Buffer.from(keyOf('encrypt.yaml'), 'base64')).toHaveLength(32);
  expect(keyOf('decrypt.yaml')).toBe(keyOf('encrypt.yaml'));
  expect(file('redis', 'password')).toMatch(/^[0-9a-f]{48}$/u);
});

test('only those who read their certificate at the start alone are restarted, and only when it was renewed', async () => {
  const restarted: string[] = [];
  const store = {
    ...openFolderStore(dir),
    restart: async ({ name }: Workload) => {
      restarted.push(name);
      return Promise.resolve();
    },
  };
  await ensureBundles(parsePlan(PLAN), store, clock);
  expect(restarted).toEqual([]);
  nowMs += 80 * DAY_MS;
  await ensureBundles(parsePlan(PLAN), store, clock);
  expect(restarted).toEqual(['app']);
});

test.each([
  ['another host', (plan: string) => plan.replace('api.example', 'api.example.org'), 'renewed serving'],
  ['another group', (plan: string) => plan.replace('[team]', '[crew]'), 'renewed user'],
])('a certificate is renewed when the plan has %s', async (_what, change, expected) => {
  await ensure();
  expect(await ensure(change(PLAN))).toContain(expected);
});

test('certificates of another authority, or beside the key of another, are replaced', async () => {
  await ensure();
  rmSync(path.join(dir, 'ca'), { recursive: true });
  writeFileSync(path.join(dir, 'user', 'tls.key'), file('serving', 'tls.key'));
  expect(await ensure(PLAN, { replace: ['ca'] })).toEqual([
    'made ca',
    'kept tokens',
    'kept encryption',
    'kept redis',
    'renewed serving',
    'renewed user',
  ]);
});

const ALL_BUT_CA = ['kept tokens', 'kept encryption', 'kept redis'];

test('a vanished authority is refused, none of its certificates is renewed, and a restored one is accepted', async () => {
  await ensure();
  const serving = file('serving', 'tls.crt');
  renameSync(path.join(dir, 'ca'), path.join(dir, 'saved'));
  nowMs += 80 * DAY_MS;
  const refused = ['refused ca', ...ALL_BUT_CA, 'refused serving', 'refused user'];
  expect(await ensure()).toEqual(refused);
  expect(await ensure(PLAN, { isRenewal: true })).toEqual(refused);
  expect(file('serving', 'tls.crt')).toBe(serving);
  renameSync(path.join(dir, 'saved'), path.join(dir, 'ca'));
  expect(await ensure(PLAN, { isRenewal: true })).toEqual([
    'kept ca',
    ...ALL_BUT_CA,
    'renewed serving',
    'renewed user',
  ]);
});

test('a store without a record refuses an authority whose certificates exist', async () => {
  await ensure();
  for (const each of ['ca', 'record']) rmSync(path.join(dir, each), { recursive: true });
  expect((await ensure())[0]).toBe('refused ca');
});

test('an authority with another fingerprint than recorded is refused until it is accepted', async () => {
  await ensure();
  const other = makeCa({ commonName: 'test-ca', validDays: 10 });
  writeFileSync(path.join(dir, 'ca', 'tls.crt'), other.certificatePem);
  writeFileSync(path.join(dir, 'ca', 'tls.key'), other.privateKeyPem);
  expect(await ensure()).toEqual(['refused ca', ...ALL_BUT_CA, 'refused serving', 'refused user']);
  const accepted = ['kept ca', ...ALL_BUT_CA, 'renewed serving', 'renewed user'];
  expect(await ensure(PLAN, { replace: ['ca'] })).toEqual(accepted);
  expect((await ensure())[0]).toBe('kept ca');
});

test.each(['tokens', 'encryption', 'redis'])('a vanished key (%s) is never created again', async (name) => {
  await ensure();
  rmSync(path.join(dir, name), { recursive: true });
  expect(await ensure()).toContain(`refused ${name}`);
  expect(await ensure(PLAN, { isRenewal: true })).toContain(`refused ${name}`);
  expect(await ensure(PLAN, { replace: [name] })).toContain(`made ${name}`);
});

test('a renewal creates no authority and no key, but issues certificates', async () => {
  expect(await ensure(PLAN, { isRenewal: true })).toEqual(
    ['ca', 'tokens', 'encryption', 'redis', 'serving', 'user'].map((name) => `refused ${name}`),
  );
  await ensure();
  rmSync(path.join(dir, 'serving'), { recursive: true });
  expect(await ensure(PLAN, { isRenewal: true })).toContain('made serving');
});

test('a certificate with an IPv6 address is kept, however the plan spells the address', async () => {
  const plan = PLAN.replace('10.0.0.1', 'fd00:0::1');
  await ensure(plan);
  expect(await ensure(plan)).toContain('kept serving');
});

test('the loser of a race reads what the winner wrote', async () => {
  const store = openFolderStore(dir);
  await ensure();
  rmSync(path.join(dir, 'ca'), { recursive: true });
  let isFirst = true;
  const racing = {
    ...store,
    write: async (name: string, bundle: Readonly<Record<string, string>>) => {
      await store.write(name, bundle);
      if (name !== 'ca' || !isFirst) return true;
      isFirst = false;
      return false;
    },
  };
  const done = await ensureBundles(parsePlan(PLAN), racing, clock, { replace: ['ca'] });
  expect(done[0]).toMatchObject({ name: 'ca', action: 'kept' });
  expect(new X509Certificate(file('serving', 'ca.crt')).fingerprint256).toBe(
    new X509Certificate(file('ca', 'tls.crt')).fingerprint256,
  );
});

test('a damaged certificate is issued again, and a damaged authority is refused; both are named', async () => {
  await ensure();
  writeFileSync(path.join(dir, 'user', 'tls.key'), 'x');
  writeFileSync(path.join(dir, 'serving', 'tls.crt'), 'x');
  await expect(expiries(parsePlan(PLAN), openFolderStore(dir), clock)).rejects.toThrow(
    'tls.crt of the bundle "serving" cannot be parsed',
  );
  const again = await ensureBundles(parsePlan(PLAN), openFolderStore(dir), clock);
  expect(again.filter(({ action }) => action !== 'kept')).toEqual([
    { name: 'serving', action: 'renewed', reason: 'tls.crt cannot be parsed' },
    { name: 'user', action: 'renewed', reason: 'tls.key cannot be parsed' },
  ]);
  for (const name of ['tls.key', 'tls.crt']) {
    writeFileSync(path.join(dir, 'ca', name), 'x');
    const [authority] = await ensureBundles(parsePlan(PLAN), openFolderStore(dir), clock);
    expect(authority).toMatchObject({
      name: 'ca',
      action: 'refused',
      reason: expect.stringContaining('cannot be parsed') as string,
    });
  }
});

test('a folder whose write was interrupted is completed by the next read', async () => {
  await ensure();
  const bundle = {
    'tls.crt': file('serving', 'tls.crt'),
    'tls.key': file('serving', 'tls.key'),
    'ca.crt': 'x',
  };
  writeFileSync(path.join(dir, 'user', '.writing'), JSON.stringify(bundle));
  writeFileSync(path.join(dir, 'user', 'tls.crt'), bundle['tls.crt']);
  const temporary = 'tls.key.0123456789ab.tmp';
  writeFileSync(path.join(dir, 'user', temporary), bundle['tls.key']);
  expect(file('user', 'tls.key')).not.toBe(bundle['tls.key']);
  expect(await openFolderStore(dir).read('user')).toEqual(bundle);
  expect(readdirSync(path.join(dir, 'user')).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key', temporary]);
});

test('a write to a folder that another process changed since the read is refused', async () => {
  await ensure();
  const [one, other] = [openFolderStore(dir), openFolderStore(dir)];
  const before = await one.read('redis');
  expect(await other.read('redis')).toEqual(before);
  expect(await other.write('redis', { password: 'of the other' })).toBe(true);
  expect(await one.write('redis', { password: 'of the first' })).toBe(false);
  expect(await one.read('redis')).toEqual({ password: 'of the other' });
  expect(await one.write('redis', { password: 'of the first' })).toBe(true);
  expect(file('redis', 'password')).toBe('of the first');
});

test('a write waits for the lock of another process, and takes that of one that was killed', async () => {
  await ensure();
  const store = openFolderStore(dir);
  const lock = path.join(dir, 'redis', '.lock');
  await store.read('redis');
  writeFileSync(lock, '');
  let isWritten = false;
  const writing = store.write('redis', { password: 'later' }).then((result) => {
    isWritten = true;
    return result;
  });
  await sleep(100);
  expect(isWritten).toBe(false);
  rmSync(lock);
  expect(await writing).toBe(true);
  await store.read('redis');
  writeFileSync(lock, '');
  utimesSync(lock, new Date(0), new Date(0));
  expect(await store.write('redis', { password: 'last' })).toBe(true);
  expect(readdirSync(path.join(dir, 'redis'))).toEqual(['password']);
});

test('the expiry of each certificate is reported, missing ones first', async () => {
  const plan = parsePlan(PLAN);
  await ensure();
  rmSync(path.join(dir, 'user'), { recursive: true });
  const rows = await expiries(plan, openFolderStore(dir), clock);
  expect(rows.map(({ name, daysLeft }) => [name, daysLeft === undefined ? daysLeft : daysLeft > 80])).toEqual(
    [
      ['user', undefined],
      ['serving', true],
      ['ca', true],
    ],
  );
});

test.each([
  [
    'an unknown field',
    'authorities: [{ name: a, commonName: a, validDays: 1, day: 1 }]',
    /unknown field "day"/,
  ],
  ['a name that leads elsewhere', 'tokenKeys: [../x]', /is no name of a folder/],
  ['two bundles of one name', 'tokenKeys: [a, a]', /two bundles are named "a"/],
  ['nothing to encrypt', 'encryptionKeys: [{ name: a, resources: [] }]', /resources must not be empty/],
  ['a resource that is none', 'encryptionKeys: [{ name: a, resources: ["*"] }]', /must be like secrets/],
  ['no days', 'authorities: [{ name: a, commonName: a, validDays: 0 }]', /validDays must be/],
  [
    'a strange usage',
    'certificates: [{ name: a, authority: b, commonName: a, validDays: 1, usages: [x] }]',
    /"server" and "client" only/,
  ],
  [
    'an authority that is not planned',
    'certificates: [{ name: a, authority: b, commonName: a, validDays: 1, usages: [client] }]',
    /"b" that is not planned/,
  ],
  ['text that is no YAML', '{', /is not YAML/],
])('a plan with %s is refused', (_what, text, why) => {
  expect(() => parsePlan(text)).toThrow(why);
});
