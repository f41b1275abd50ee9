import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { utf8String } from '../../../../shared/certs/der';
import type { Log } from '../../../../shared/log/log';
import { silentLog } from '../../../../shared/log/log';
import { USER_GROUP } from '../../../../shared/names';
import type { PeerCertificates } from '../../request/exchange';
import { newExchange } from '../../request/testing/new-exchange';
import { whyUnauthorized } from '../authenticator';
import {
  CLIENT_AUTH,
  rawCertificate,
  testAuthority,
  testCertificate,
} from '../../../../shared/certs/testing/test-certificates';
import { openCaBundle } from './ca-bundle';
import { clientCertificate } from './client-certificate';
import { patience } from '../../../../shared/testing/eventually';

const root = testAuthority();
const other = testAuthority();
const alice = testCertificate({
  commonName: 'alice',
  organizations: [USER_GROUP.masters, 'devs'],
  extendedUsages: [CLIENT_AUTH],
  issuer: root,
});

let now = Date.now();
let content = { pem: '', anchors: [root.parsed] };
const authenticate = clientCertificate({ bundle: { current: () => content }, clock: { now: () => now } });
beforeEach(() => {
  now = Date.now();
  content = { pem: '', anchors: [root.parsed] };
});

async function outcome(peer: readonly (typeof alice)[] | undefined): Promise<unknown> {
  return outcomeOf(peer?.map(({ parsed }) => parsed.x509));
}

async function outcomeOf(peer: PeerCertificates | undefined): Promise<unknown> {
  try {
    return (await authenticate(newExchange({ peer })))?.user;
  } catch (error) {
    return whyUnauthorized(error) ?? error;
  }
}

test('the common name is the user, and the organizations are the groups', async () => {
  expect(await outcome([alice])).toEqual({
    name: 'alice',
    uid: '',
    groups: [USER_GROUP.masters, 'devs'],
    extra: {},
  });
});

test('without a certificate, or with one without a name, other authenticators decide', async () => {
  expect(await outcome(undefined)).toBeUndefined();
  expect(await outcome([testCertificate({ organizations: ['g'], issuer: root })])).toBeUndefined();
});

test('a certificate of others is refused', async () => {
  const foreign = testCertificate({ commonName: 'eve', issuer: other });
  expect(await outcome([foreign, other])).toBe(
    'the certificate of "eve" is not trusted: certificate signed by unknown authority',
  );
});

test('on a connection that stays open, a certificate expires and its authority loses trust', async () => {
  const peer = [alice.parsed.x509];
  expect(await outcomeOf(peer)).toMatchObject({ name: 'alice' });
  content = { pem: '', anchors: [other.parsed] };
  expect(await outcomeOf(peer)).toMatch(/unknown authority/);
  content = { pem: '', anchors: [other.parsed, root.parsed] };
  expect(await outcomeOf(peer)).toMatchObject({ name: 'alice' });
  now = alice.parsed.notAfterMs + 1;
  expect(await outcomeOf(peer)).toMatch(/expired/);
});

test('so do the watches of that connection, which stand on one ground', async () => {
  const peer = [alice.parsed.x509];
  const [one, another] = [
    await authenticate(newExchange({ peer })),
    await authenticate(newExchange({ peer })),
  ];
  const ground = one?.ground?.();
  expect(another?.ground?.()).toBe(ground);
  const standing = async (): Promise<unknown> => whyUnauthorized(await ground?.refusal(patience()));
  expect(await standing()).toBeUndefined();
  content = { pem: '', anchors: [other.parsed] };
  expect(await standing()).toMatch(/unknown authority/);
  content = { pem: '', anchors: [root.parsed] };
  expect(await standing()).toBeUndefined();
  now = alice.parsed.notAfterMs + 1;
  expect(await standing()).toMatch(/expired/);
});

test('a certificate with a time that is none is refused, and does not count among the lives of certificates', async () => {
  const broken = Buffer.from('\x17\x0d999999999999Z', 'latin1');
  const { der } = rawCertificate({ commonName: 'eve', issuer: root, times: [broken, broken] });
  const lives: number[] = [];
  const counting = clientCertificate({
    bundle: { current: () => content },
    clock: { now: () => now },
    life: { observe: (ms) => lives.push(ms) },
  });
  const asked = counting(newExchange({ peer: [new X509Certificate(der)] }));
  expect(await asked.catch(whyUnauthorized)).toBe('the certificate is malformed: Error: a malformed time');
  expect(lives).toEqual([]);
});

test('a certificate that is used too early is good once its time has come', async () => {
  const early = testCertificate({ commonName: 'bob', issuer: root, notBeforeMs: now + 15_000 });
  const peer = [early.parsed.x509];
  expect(await outcomeOf(peer)).toMatch(/not yet valid/);
  now += 20_000;
  expect(await outcomeOf(peer)).toMatchObject({ name: 'bob' });
});

describe('a chain that was refused', () => {
  const stranger = testAuthority({ commonName: root.parsed.commonName });
  const eve = testCertificate({ commonName: 'eve', issuer: { ...stranger, subject: root.subject } });
  /** As another connection shows it. */
  const shown = (): PeerCertificates => [eve, stranger].map(({ parsed }) => new X509Certificate(parsed.der));
  let verify: jest.SpyInstance;
  beforeEach(() => {
    verify = jest.spyOn(X509Certificate.prototype, 'verify');
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('is verified once, however many connections show it, at once and one after the other', async () => {
    await Promise.all([shown(), shown()].map(outcomeOf));
    expect(await outcomeOf(shown())).toMatch(/unknown authority/);
    const checks = verify.mock.calls.length;
    expect(checks).toBeGreaterThan(0);
    now += 9_000;
    await outcomeOf(shown());
    expect(verify).toHaveBeenCalledTimes(checks);
    now += 2_000;
    await outcomeOf(shown());
    expect(verify).toHaveBeenCalledTimes(2 * checks);
  });

  test('is trusted as soon as the bundle has its authority', async () => {
    expect(await outcomeOf(shown())).toMatch(/unknown authority/);
    content = { pem: '', anchors: [stranger.parsed] };
    expect(await outcomeOf(shown())).toMatchObject({ name: 'eve' });
  });
});

test('more certificates than a handshake should carry are refused before they are read', async () => {
  const names = Array.from({ length: 400 }, () => ['2.5.4.10', utf8String('x'.repeat(200))] as const);
  const long = testAuthority({ names, issuer: root });
  expect(await outcome([alice, long])).toBe('the certificates are longer than 65536 bytes');
});

describe('the bundle', () => {
  let dir = '';
  let file = '';
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'bundle-'));
    file = path.join(dir, 'ca.crt');
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });

  test('is read again when the file changes; an unusable file is logged once and changes nothing', async () => {
    writeFileSync(file, root.pem);
    let onWarned = (): void => undefined;
    const log: Log = { ...silentLog, warn: () => onWarned() };
    const bundle = openCaBundle(file, { log, pollMs: 5 });
    try {
      let changes = 0;
      const changed = new Promise<void>((resolve) => {
        bundle.onChange(() => {
          changes += 1;
          resolve();
        });
      });
      let warnings = 0;
      const warned = new Promise<void>((resolve) => {
        onWarned = () => {
          warnings += 1;
          resolve();
        };
      });
      writeFileSync(file, 'rubbish');
      await warned;
      expect(bundle.current().anchors.map(({ x509 }) => x509.subject)).toEqual([root.parsed.x509.subject]);
      writeFileSync(file, root.pem + other.pem);
      await changed;
      expect(bundle.current().anchors).toHaveLength(2);
      expect([changes, warnings]).toEqual([1, 1]);
    } finally {
      bundle.stop();
    }
  });

  test('says which of its authorities cannot be used, and goes on with the others', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    const odd = testAuthority({ commonName: 'odd', keys });
    writeFileSync(file, odd.pem + root.pem);
    const warned: object[] = [];
    const bundle = openCaBundle(file, { log: { ...silentLog, warn: (fields) => warned.push(fields) } });
    bundle.stop();
    expect(warned).toEqual([{ file, subject: 'CN=odd' }]);
    content = { pem: '', anchors: [...bundle.current().anchors] };
    expect(await outcome([alice])).toMatchObject({ name: 'alice' });
    expect(await outcome([testCertificate({ commonName: 'bob', issuer: odd })])).toMatch(/is not accepted/);
  });

  test('must be usable at first', () => {
    expect(() => openCaBundle(file, { log: silentLog })).toThrow(
      `${file}: the file of authorities cannot be read`,
    );
    writeFileSync(file, 'rubbish');
    expect(() => openCaBundle(file, { log: silentLog })).toThrow(`${file}: no certificate in PEM form`);
  });
});
