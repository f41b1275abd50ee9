import { X509Certificate } from 'node:crypto';
import type { Bundle, BundleStore } from './bundle-store';
import { ensureBundles } from './ensure';
import { parsePlan } from './plan';
import type { RotationPhase, RotationResult } from './rotate';
import { describeRotation, rotateAuthority } from './rotate';

const SETTLE_MS = 300_000;
const PLAN = parsePlan(`
authorities:
  - { name: ca, commonName: test-ca, validDays: 3650 }
  - { name: other-ca, commonName: other-ca, validDays: 3650 }
certificates:
  - { name: serving, authority: ca, commonName: api, hosts: [api], usages: [server], validDays: 90, restart: app }
  - { name: user, authority: ca, commonName: ann, usages: [client], validDays: 90, restartForTrust: etcd }
  - { name: other, authority: other-ca, commonName: bob, usages: [client], validDays: 90 }
`);

let bundles = new Map<string, Bundle>();
let nowMs = 0;
let restarted: string[] = [];
const clock = { now: () => nowMs };
const store: BundleStore = {
  read: async (name) => Promise.resolve(bundles.get(name)),
  write: async (name, bundle) => {
    bundles.set(name, bundle);
    return Promise.resolve(true);
  },
  restart: async ({ kind, name }) => {
    restarted.push(`${kind} ${name}`);
    return Promise.resolve();
  },
  close: () => undefined,
};

beforeEach(async () => {
  bundles = new Map();
  nowMs = Date.now();
  await ensure();
  restarted = [];
});

async function ensure(): Promise<readonly string[]> {
  return (await ensureBundles(PLAN, store, clock)).map(({ name, action }) => `${action} ${name}`);
}

async function rotate(phase: RotationPhase, through = store): Promise<RotationResult> {
  const [authority] = PLAN.authorities;
  if (authority === undefined) throw new Error('the plan has no authority');
  return rotateAuthority({ plan: PLAN, store: through, clock, settleMs: SETTLE_MS }, authority, phase);
}

async function settleAndRotate(phase: RotationPhase): Promise<RotationResult> {
  nowMs += SETTLE_MS;
  return rotate(phase);
}

function file(bundle: string, name: string): string {
  return bundles.get(bundle)?.[name] ?? '';
}

/** The fingerprints of the certificates that a program trusts. */
function trusted(bundle: string): readonly string[] {
  return file(bundle, 'ca.crt')
    .split(/(?<=-----END CERTIFICATE-----)/u)
    .filter((block) => block.trim() !== '')
    .map((block) => new X509Certificate(block).fingerprint256);
}

function fingerprint(): string {
  return new X509Certificate(file('ca', 'tls.crt')).fingerprint256;
}

/** Whether the current authority issued the certificate. */
function isIssued(bundle: string): boolean {
  const issuer = new X509Certificate(file('ca', 'tls.crt'));
  return new X509Certificate(file(bundle, 'tls.crt')).verify(issuer.publicKey);
}

test('a rotation trusts both authorities before the successor issues, and the successor alone at its end', async () => {
  const old = fingerprint();
  const other = file('other', 'tls.crt');
  const serving = file('serving', 'tls.crt');

  expect(await rotate('trust')).toMatchObject({ state: 'trust', isDone: true });
  const successor = new X509Certificate(file('ca', 'next.crt')).fingerprint256;
  expect(fingerprint()).toBe(old);
  expect(file('serving', 'tls.crt')).toBe(serving);
  for (const each of ['ca', 'serving', 'user']) expect(trusted(each)).toEqual([old, successor]);
  expect(restarted).toEqual(['Deployment app', 'StatefulSet etcd']);

  restarted = [];
  expect(await settleAndRotate('issue')).toMatchObject({ state: 'issue', isDone: true });
  expect(fingerprint()).toBe(successor);
  for (const each of ['serving', 'user']) expect(isIssued(each)).toBe(true);
  for (const each of ['ca', 'serving', 'user']) expect(trusted(each)).toEqual([old, successor]);
  // What is trusted did not change, so etcd needs no restart.
  expect(restarted).toEqual(['Deployment app']);

  expect(await settleAndRotate('finish')).toMatchObject({ state: 'single', isDone: true });
  for (const each of ['ca', 'serving', 'user']) expect(trusted(each)).toEqual([successor]);
  expect(Object.keys(bundles.get('ca') ?? {}).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  expect(file('other', 'tls.crt')).toBe(other);
  expect((await ensure()).every((each) => each.startsWith('kept'))).toBe(true);
});

test('renewals between the phases keep both authorities trusted', async () => {
  await rotate('trust');
  nowMs += 80 * 86_400_000;
  expect(await ensure()).toContain('renewed serving');
  expect(trusted('serving')).toHaveLength(2);
  // Certificates are new: programs need time to read them.
  await rotate('trust');
  expect(await settleAndRotate('issue')).toMatchObject({ isDone: true });
  nowMs += 80 * 86_400_000;
  expect(await ensure()).toContain('renewed serving');
  expect(isIssued('serving')).toBe(true);
  expect(trusted('serving')).toHaveLength(2);
});

test('a phase is refused before programs have read the files of the phase before', async () => {
  await rotate('trust');
  nowMs += SETTLE_MS - 1_000;
  const refused = await rotate('issue');
  expect(refused).toMatchObject({ state: 'trust', isDone: false });
  expect(refused.message).toContain('run this again in 1 s');
  nowMs += 1_000;
  // A certificate that had to be written again delays the phase as well.
  bundles.delete('user');
  expect((await rotate('issue')).message).toContain('run this again in 300 s');
  expect(await rotate('issue')).toMatchObject({ isDone: false });
  expect(await settleAndRotate('issue')).toMatchObject({ state: 'issue', isDone: true });
});

test('a phase that does not follow on the state changes nothing', async () => {
  expect(await rotate('issue')).toMatchObject({ state: 'single', isDone: false });
  await rotate('trust');
  await settleAndRotate('issue');
  const before = new Map(bundles);
  expect(await settleAndRotate('trust')).toMatchObject({ state: 'issue', isDone: false });
  expect(bundles).toEqual(before);
});

test('a phase that ends after any of its writes is completed by running it again, or by certs ensure', async () => {
  for (const completion of ['again', 'ensure'] as const)
    for (const phase of ['trust', 'issue', 'finish'] as const) {
      nowMs += SETTLE_MS;
      const total = await countWrites(phase);
      expect(total).toBeGreaterThan(2);
      for (let writes = 1; writes < total; writes++) {
        const before = new Map(bundles);
        await expect(rotate(phase, failingAfter(writes))).rejects.toThrow('the process ends');
        const ensured = completion === 'ensure' ? await ensure() : [];
        expect(ensured.some((each) => each.startsWith('refused'))).toBe(false);
        expect(await rotate(phase)).toMatchObject({ isDone: true });
        expect([isIssued('serving'), isIssued('user')]).toEqual([true, true]);
        for (const each of ['serving', 'user']) expect(trusted(each)).toEqual(trusted('ca'));
        bundles = before;
      }
      expect(await rotate(phase)).toMatchObject({ isDone: true });
    }
});

/** Counts the writes of a phase on a copy that is put back. */
async function countWrites(phase: RotationPhase): Promise<number> {
  const before = new Map(bundles);
  let count = 0;
  const counting: BundleStore = {
    ...store,
    write: async (name, bundle) => {
      count++;
      return store.write(name, bundle);
    },
  };
  await rotate(phase, counting);
  bundles = before;
  return count;
}

function failingAfter(writes: number): BundleStore {
  let left = writes;
  return {
    ...store,
    write: async (name, bundle) => {
      if (left === 0) throw new Error('the process ends');
      left--;
      return store.write(name, bundle);
    },
  };
}

test('a rotation can be undone, before and after the successor has issued', async () => {
  const old = fingerprint();
  await rotate('trust');
  await settleAndRotate('issue');
  expect(await rotate('undo-issue')).toMatchObject({ state: 'trust', isDone: true });
  expect(fingerprint()).toBe(old);
  expect([isIssued('serving'), isIssued('user')]).toEqual([true, true]);
  expect(trusted('serving')).toHaveLength(2);
  // A Job that is tried again, because of another authority, does not go further back.
  expect(await settleAndRotate('undo-issue')).toMatchObject({ state: 'trust', isDone: true });
  await settleAndRotate('issue');
  await rotate('undo-issue');
  // Programs may still use certificates of the successor.
  expect(await rotate('undo-trust')).toMatchObject({ state: 'trust', isDone: false });
  expect(await settleAndRotate('undo-trust')).toMatchObject({ state: 'single', isDone: true });
  expect(trusted('serving')).toEqual([old]);
  expect((await ensure()).every((each) => each.startsWith('kept'))).toBe(true);
});

test('an undo that was interrupted is completed by running it again', async () => {
  const old = fingerprint();
  await rotate('trust');
  await settleAndRotate('issue');
  await expect(rotate('undo-issue', failingAfter(1))).rejects.toThrow('the process ends');
  expect(await rotate('undo-issue')).toMatchObject({ state: 'trust', isDone: true });
  expect(fingerprint()).toBe(old);
  expect([isIssued('serving'), isIssued('user')]).toEqual([true, true]);
});

test('a phase that ended before a restart restarts all programs when it is run again', async () => {
  const failing = { ...store, restart: async () => Promise.reject(new Error('the cluster does not answer')) };
  for (const each of ['first', 'second']) {
    await expect(rotate('trust', failing)).rejects.toThrow('does not answer');
    expect([each, restarted]).toEqual([each, []]);
  }
  expect(await rotate('trust')).toMatchObject({ state: 'trust', isDone: true });
  expect(restarted).toEqual(['Deployment app', 'StatefulSet etcd']);
  expect(await rotate('trust')).toMatchObject({ isDone: true });
  expect(restarted).toHaveLength(2);
});

test('a bundle without the time of its phase gets one when the phase is run again', async () => {
  await rotate('trust');
  const { 'rotated-at': _time, ...others } = bundles.get('ca') ?? {};
  bundles.set('ca', others);
  expect(await settleAndRotate('issue')).toMatchObject({ state: 'trust', isDone: false });
  await rotate('trust');
  expect(await settleAndRotate('issue')).toMatchObject({ state: 'issue', isDone: true });
});

test('authorities that an operator added to ca.crt stay trusted', async () => {
  const extra = file('other-ca', 'tls.crt');
  bundles.set('ca', { ...bundles.get('ca'), 'ca.crt': file('ca', 'tls.crt') + extra });
  const added = new X509Certificate(extra).fingerprint256;
  await rotate('trust');
  await settleAndRotate('issue');
  await settleAndRotate('finish');
  expect(trusted('ca')).toEqual([added, fingerprint()]);
  expect(trusted('serving')).toEqual([added, fingerprint()]);
});

test('a missing authority is reported', async () => {
  bundles.delete('ca');
  expect(await describeRotation(store, 'ca')).toMatchObject({ isDone: false });
  expect(await rotate('trust')).toMatchObject({ isDone: false });
  expect(bundles.has('ca')).toBe(false);
});
