import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureCredentials } from '../deploy/local/credentials';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { repositoryRoot, requireBuilt } from '../deploy/local/repository';
import type { Replica } from './support/replica';
import { startReplica } from './support/replica';
import { explained, makeWorkspace } from './support/workspace';

const run = promisify(execFile);

const MIB = 1_048_576;
/** What the package may cost its users. Most files are declarations of `orch/client`. */
const BUDGET = { packedMib: 7, unpackedMib: 28, files: 200, dependencies: 0 };

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

requireBuilt(path.join(repositoryRoot, 'dist', 'lib', 'testing.js'));

let folder: string;
let packed: Packed;

/** A project that has nothing but the packed file. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'package-'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repositoryRoot,
  });
  [packed] = JSON.parse(stdout) as [Packed];
  await writeFile(path.join(folder, 'package.json'), '{ "private": true }');
  const archive = path.join(folder, packed.filename);
  // The embedded store's native part is optional, and no test of a control plane in memory needs it.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--omit=optional', archive], {
    cwd: folder,
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Runs a file of the project with this Node; returns what it writes. */
async function runFile(name: string, text: string, words: readonly string[] = []): Promise<string> {
  await writeFile(path.join(folder, name), text);
  const { stdout } = await run(process.execPath, [...words, name], { cwd: folder });
  return stdout.trim();
}

test('the package stays within its budget, and has no source, test or cache', async () => {
  expect(packed.size / MIB).toBeLessThan(BUDGET.packedMib);
  expect(packed.unpackedSize / MIB).toBeLessThan(BUDGET.unpackedMib);
  expect(packed.files.length).toBeLessThanOrEqual(BUDGET.files);
  const strange = packed.files.filter(({ path: file }) =>
    /(?<!\.d)\.ts$|\.map$|\.cache$|test/u.test(file.replace(/testing|envtest/u, '')),
  );
  expect(strange).toEqual([]);
  const manifest = JSON.parse(
    await readFile(path.join(folder, 'node_modules/orch/package.json'), 'utf8'),
  ) as {
    readonly dependencies?: object;
  };
  expect(Object.keys(manifest.dependencies ?? {})).toHaveLength(BUDGET.dependencies);
  expect((await readdir(path.join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
    'orch',
  ]);
});

const USE = `
(async () => {
  const clusters = await Promise.all([startControlPlane(), startControlPlane({ dialect: 'orch' })]);
  const groups = await Promise.all(clusters.map(async (cluster) => (await (await cluster.fetch('/apis')).json()).groups.map(({ name }) => name)));
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  console.log(groups[0].includes('rbac.authorization.k8s.io'), groups[1].includes('rbac.authorization.orch'));
})();`;

test('CommonJS and ES modules start control planes of both dialects in one process, which then ends', async () => {
  expect(await runFile('use.cjs', `const { startControlPlane } = require('orch/testing');${USE}`)).toBe(
    'true true',
  );
  expect(await runFile('use.mjs', `import { startControlPlane } from 'orch';${USE}`)).toBe('true true');
});

test(
  'the API server starts again at the API level of its store, also from node_modules',
  explained(async () => {
    const workspace = makeWorkspace('package');
    const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(workspace.dir, 'etcd') });
    let replica: Replica | undefined;
    try {
      replica = await startReplica({
        dialect: 'kubernetes',
        storage: { kind: 'etcd', endpoints: etcd.endpoints },
        dir: workspace.dir,
        credentials: ensureCredentials(workspace.dir),
        program: path.join(folder, 'node_modules/orch/dist/bin/orch-apiserver.js'),
        extraArgs: ['--api-level=1.21'],
        // Without the flag, the level is that of the store.
        env: { ORCH_API_LEVEL: '' },
      });
      await replica.exchange({ extraArgs: [] });
      expect((await replica.client.get('/version')).body).toMatchObject({ minor: '21' });
    } finally {
      await replica?.stop();
      await etcd.stop();
      workspace.remove();
    }
  }),
);

/** Compiles files of the project with the declarations of the packed file; `words` are further options. */
async function compile(cwd: string, words: readonly string[]): Promise<void> {
  const tsc = path.join(repositoryRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const types = ['--typeRoots', path.join(repositoryRoot, 'node_modules', '@types'), '--types', 'node'];
  await run(
    process.execPath,
    [tsc, '--strict', '--target', 'es2023', '--module', 'node20', ...types, ...words],
    {
      cwd,
    },
  );
}

test('the operator of the tutorial compiles against the package, and passes its own test', async () => {
  const [source, root] = [path.join(repositoryRoot, 'e2e/operator'), path.join(folder, 'operator')];
  const files = ['site', 'reconcile-site', 'run-operator', 'serve-webhook', 'main', 'site.spec'];
  await cp(path.join(source, 'config'), path.join(root, 'config'), { recursive: true });
  for (const name of files) await cp(path.join(source, `${name}.ts`), path.join(root, `${name}.ts`));
  await compile(
    root,
    files.map((name) => `${name}.ts`),
  );
  const { stdout } = await run(process.execPath, ['--test', 'site.spec.js'], { cwd: root });
  expect(stdout).toMatch(/pass 3\b/u);
});

/** Test files of each runner; `npm run test:nightly -- node-versions` sets more. */
const FILES = Number(process.env['ORCH_PACKAGE_FILES'] ?? '2');
const WORKERS = 4;
/** The program of vitest, which the project does not depend on. */
const VITEST = process.env['ORCH_VITEST'];

/** Two tests that would disturb each other without isolation; fake timers of the runner must not reach the control plane. */
const testFile = (head: string): string => `${head}
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
for (const name of ['first', 'second'])
  test(name, async () => {
    if (typeof jest !== 'undefined') jest.useFakeTimers();
    const body = JSON.stringify({ metadata: { name: 'a' } });
    const answer = await cluster().fetch(CONFIG_MAPS, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    if (answer.status !== 201) throw new Error(await answer.text());
  });`;

interface Runner {
  readonly file: string;
  readonly text: string;
  readonly words: (folder: string, cache: string) => readonly string[];
  /** The line of a run in which all tests of all files have passed. */
  readonly passed: RegExp;
}

const RUNNERS: Readonly<Record<string, Runner>> = {
  'node:test': {
    file: 'test.mjs',
    text: testFile(`import * as hooks from 'node:test';
import { useControlPlane } from 'orch/testing';
const { test } = hooks;
const cluster = useControlPlane(hooks);`),
    words: () => ['--test'],
    passed: new RegExp(`pass ${String(2 * FILES)}\\b`, 'u'),
  },
  jest: {
    file: 'test.js',
    text: testFile(`const { useControlPlane } = require('orch/testing');
const cluster = useControlPlane({ beforeAll, beforeEach, afterAll });`),
    words: (root, cache) => [
      path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js'),
      `--maxWorkers=${String(WORKERS)}`,
      '--rootDir',
      root,
      '--cacheDirectory',
      cache,
    ],
    passed: new RegExp(`Tests: +${String(2 * FILES)} passed, ${String(2 * FILES)} total`, 'u'),
  },
  ...(VITEST === undefined
    ? {}
    : {
        vitest: {
          file: 'test.mjs',
          text: testFile(`import * as hooks from '${path.join(path.dirname(VITEST), 'dist', 'index.js')}';
import { useControlPlane } from 'orch/testing';
const { test } = hooks;
const cluster = useControlPlane(hooks);`),
          words: (root: string) => [VITEST, 'run', '--root', root, `--maxWorkers=${String(WORKERS)}`],
          passed: new RegExp(`Tests +${String(2 * FILES)} passed`, 'u'),
        },
      }),
};

test.each(Object.keys(RUNNERS))(
  '%s runs files in parallel workers, isolates their tests from each other, and leaves nothing',
  async (name) => {
    const { file, text, words, passed } = RUNNERS[name] as Runner;
    const root = path.join(folder, name.replace(':', '-'));
    const [cache, temporary] = [path.join(folder, 'cache'), path.join(root, 'tmp')];
    await mkdir(temporary, { recursive: true });
    await writeFile(path.join(root, 'package.json'), '{ "jest": { "testEnvironment": "node" } }');
    for (let at = 0; at < FILES; at += 1) await writeFile(path.join(root, `${String(at)}.${file}`), text);
    // It rejects unless the runner ends by itself, with success.
    const { stdout, stderr } = await run(process.execPath, words(root, cache), {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' },
    });
    expect(stdout + stderr).toMatch(passed);
    expect(stdout + stderr).not.toMatch(/did not exit|failed to exit/u);
    expect(await readdir(temporary)).toEqual([]);
  },
);

test('a kubeconfig reaches the control plane over TLS, and declarations describe the package', async () => {
  const text = `
const { startControlPlane } = require('orch/testing');
const https = require('node:https');
(async () => {
  const cluster = await startControlPlane();
  const { clusters: [{ server, caData }], users: [{ token }] } = cluster.as('jane', ['devs']).clientNodeConfig();
  const options = { ca: Buffer.from(caData, 'base64'), headers: { authorization: 'Bearer ' + token }, agent: false };
  const code = await new Promise((resolve, reject) => https.get(server + '/api/v1/nodes', options, (answer) => { answer.resume(); resolve(answer.statusCode); }).on('error', reject));
  console.log(code, JSON.parse(cluster.kubeconfig).kind);
  await cluster.stop();
})();`;
  expect(await runFile('tls.cjs', text)).toBe('403 Config');
  await writeFile(
    path.join(folder, 'use.mts'),
    `import { startControlPlane } from 'orch/testing';\nimport type { ControlPlane } from 'orch';\nconst cluster: ControlPlane = await startControlPlane({ replicas: 3 });\nawait cluster.clock.advance('2h');\n`,
  );
  await compile(folder, ['--noEmit', 'use.mts']);
});

test('the programs start by npx', async () => {
  const programs = ['apiserver', 'controller-manager', 'admin', 'convert', 'validate'];
  for (const program of programs.map((name) => `orch-${name}`)) {
    const { stdout } = await run('npx', ['--no-install', program, '--help'], { cwd: folder });
    expect(stdout).toContain(program);
  }
});

test('orch-validate names file and line, as text and as JSON, and exits with 1', async () => {
  const file = 'invalid.yaml';
  await writeFile(
    path.join(folder, file),
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: A\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n',
  );
  const validate = async (...words: string[]): Promise<unknown> =>
    run('npx', ['--no-install', 'orch-validate', '-f', file, ...words], { cwd: folder });
  await expect(validate()).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^invalid\.yaml:4: error: ConfigMap\/A: metadata\.name: Invalid value.*\n$/u,
    ) as unknown,
  });
  await expect(validate('-o', 'json', '--api-level=1.30')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"line": 4,') as unknown,
  });
  await expect(validate('--crds', 'none')).rejects.toMatchObject({ code: 2 });
});
