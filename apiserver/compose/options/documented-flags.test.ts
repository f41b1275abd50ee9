import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FLAGS } from '../../../controller-manager/flags';
import { FOREIGN_FLAGS as MANAGER_FOREIGN_FLAGS } from '../../../controller-manager/foreign-flags';
import { fieldOf } from '../../../shared/flags/flag-row';
import { parseFlags } from '../../../shared/flags/parse-flags';
import { completeOptions } from './complete-options';
import { FLAG_ROWS } from './flag-rows';
import { FOREIGN_FLAGS } from './foreign-flags';
import { parseServerFlags } from './parse-server-flags';
import {
  API_SERVER_FLAGS,
  CONTROLLER_MANAGER_FLAGS,
  GENERIC_FLAGS,
  HIDDEN_FLAGS,
  KUBEADM_API_SERVER,
  KUBEADM_CONTROLLER_MANAGER,
} from './testing/upstream-flags';

const ROOT = path.resolve(__dirname, '../../..');
const MANUAL = path.join(ROOT, 'apiserver/docs');
/** One command line per store, with the flags that cause further flags to be read. */
const COMMAND_LINES = [
  ['--storage-backend=embedded', '--embedded-dir=d'],
  [
    '--etcd-servers=http://127.0.0.1:2379',
    '--oidc-issuer-url=https://issuer.example.com',
    '--oidc-client-id=c',
    '--shared-limits-redis=rediss://redis.example.com',
    '--shared-webhook-cache-redis=rediss://redis.example.com',
    '--shared-webhook-cache-key-file=f',
    '--authentication-token-webhook-config-file=f',
    '--authorization-mode=Webhook',
    '--authorization-webhook-config-file=f',
    '--audit-policy-file=f',
    '--audit-log-path=-',
    '--audit-webhook-config-file=f',
    '--feature-gates=APIServerIdentity=true',
  ],
];
/** Flags of Node, npm, npx, the compiler, kubectl, `orch-convert`, `orch-validate`, `npm start` and `npm test`. */
const FOREIGN: ReadonlySet<string> = new Set([
  'as',
  'as-group',
  'cascade',
  'clusterrole',
  'crds',
  'data-dir',
  'e2e',
  'field-selector',
  'file',
  'force-conflicts',
  'from',
  'help',
  'image',
  'list',
  'listen',
  'max-old-space-size',
  'max-semi-space-size',
  'module',
  'namespace',
  'no-maglev',
  'nodes',
  'old',
  'output-version',
  'package',
  'raw',
  'real-etcd',
  'replace',
  'replicas',
  'save-dev',
  'strict',
  'target',
  'test',
  'types',
  'unit',
  'user',
  'v8-pool-size',
]);

test('the manual and the README name no unknown flag', () => {
  const known = [...FLAG_ROWS, ...FLAGS].map(({ name }) => name);
  const pages = readdirSync(MANUAL).filter((name) => name.endsWith('.md'));
  const texts = [...pages.map((name) => path.join(MANUAL, name)), path.join(ROOT, 'README.md')].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const named = texts.flatMap((text) =>
    [...text.matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/gu)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(50);
  // `--oidc-*` and `--cluster-signing-<signer>-cert-file` are patterns of flag names.
  const unknown = named.filter(
    (name) =>
      !FOREIGN.has(name) &&
      !(name.endsWith('-')
        ? known.some((each) => each.startsWith(name))
        : known.some((each) => each === name)),
  );
  expect(unknown).toEqual([]);
});

test.each([
  ['API server', FLAG_ROWS, FOREIGN_FLAGS],
  ['controller-manager', FLAGS, MANAGER_FOREIGN_FLAGS],
])('no flag of the %s is both supported and foreign, or listed twice', (_program, rows, foreign) => {
  const names = [...rows, ...foreign].map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each([
  ['the library of kube-apiserver', [...FLAG_ROWS, ...FOREIGN_FLAGS], GENERIC_FLAGS, 70],
  ['kube-apiserver besides', [...FLAG_ROWS, ...FOREIGN_FLAGS], [...API_SERVER_FLAGS, ...HIDDEN_FLAGS], 60],
  ['kube-controller-manager', [...FLAGS, ...MANAGER_FOREIGN_FLAGS], CONTROLLER_MANAGER_FLAGS, 130],
])('every flag of %s is known', (_program, rows, flags, atLeast) => {
  const known = new Set<string>(rows.map(({ name }) => name));
  expect(flags.length).toBeGreaterThan(atLeast);
  expect(flags.filter((name) => !known.has(name))).toEqual([]);
});

test("kubeadm's command lines are read, and fit together", () => {
  const parsed = parseServerFlags(KUBEADM_API_SERVER);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  expect(completeOptions(parsed.values)).toMatchObject({ ok: true });
  expect(parseFlags(FLAGS, KUBEADM_CONTROLLER_MANAGER, MANAGER_FOREIGN_FLAGS).outcome).toBe('values');
});

test('every flag of the API server is read', () => {
  const read = new Set<string>();
  for (const argv of COMMAND_LINES) {
    const parsed = parseFlags(FLAG_ROWS, argv);
    if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
    completeOptions(recordReads(parsed.values, read));
  }
  expect(FLAG_ROWS.map(fieldOf).filter((field) => !read.has(field))).toEqual([]);
});

/** Returns a proxy of the target that records the properties read. */
function recordReads<T extends object>(target: T, read: Set<string>): T {
  return new Proxy(target, {
    get: (values, key) => {
      read.add(String(key));
      return Reflect.get(values, key) as unknown;
    },
  });
}
