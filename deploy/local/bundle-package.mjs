/** Bundles everything that the npm package has: the programs, `orch/testing` with its engine, declarations, and the licenses of what is in it. */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { bundleEngine, lateModules, packageModules, writeBeginnings } from './bundle-engine.mjs';

/** Loaded from `node_modules` because it is native; only the embedded store needs it. */
export const EXTERNAL = ['classic-level'];

/** The programs, and the thread that `apiserver/compose/worker/create-offload.ts` starts from its own folder. */
const PROGRAMS = {
  'orch-apiserver': 'apiserver/main.ts',
  serve: 'apiserver/serve.ts',
  'orch-controller-manager': 'controller-manager/main.ts',
  'orch-node': 'controller-manager/node/main.ts',
  'orch-scheduler': 'controller-manager/scheduler/main.ts',
  'orch-admin': 'deploy/admin/main.ts',
  'orch-convert': 'deploy/convert/main.ts',
  'envtest-etcd': 'orch/envtest/etcd.ts',
  thread: 'apiserver/compose/worker/thread.ts',
};

/** Programs that have the names of Kubernetes by default. */
const TOOLS = { orch: 'orch/main.ts' };
const DEFAULT_DIALECT = { ORCH_DEFAULT_DIALECT: JSON.stringify('kubernetes') };

/** `orch` and `orch/testing`, which start control planes. Their declarations import nothing. */
const TESTING = 'package/testing.ts';
/** `orch/client`, whose declarations are those of the modules that it is made of. */
const CLIENT = 'orch/client/index.ts';
/** `orch-validate`, beside the engine of the control plane that it starts. */
const VALIDATE = 'orch/validate/main.ts';

/** Writes `dist/bin`, `dist/proto`, `dist/lib` and `dist/THIRD-PARTY-LICENSES.txt` below `root`. */
export async function bundlePackage(root) {
  const { build } = await import('esbuild');
  const dist = path.join(root, 'dist');
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    metafile: true,
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
    // Node prints the whole line of an uncaught error.
    lineLimit: 160,
    external: EXTERNAL,
    logLevel: 'warning',
  };
  const buildPrograms = async (programs, define) =>
    build({
      ...common,
      plugins: [lateModules(root), packageModules],
      entryPoints: Object.entries(programs).map(([out, file]) => ({ in: path.join(root, file), out })),
      outdir: path.join(dist, 'bin'),
      sourcemap: true,
      define,
    });
  const programs = await Promise.all([buildPrograms(PROGRAMS, {}), buildPrograms(TOOLS, DEFAULT_DIALECT)]);
  // The client of etcd reads its interface from files beside the folder of the program.
  cpSync(path.join(root, 'node_modules', 'etcd3', 'proto'), path.join(dist, 'proto'), { recursive: true });
  const lib = path.join(dist, 'lib');
  await build({
    ...common,
    entryPoints: Object.entries({ testing: TESTING, client: CLIENT, validate: VALIDATE }).map(
      ([out, file]) => ({
        in: path.join(root, file),
        out,
      }),
    ),
    outdir: lib,
    minifyWhitespace: false,
    define: { ...DEFAULT_DIALECT, ORCH_VERSION: JSON.stringify(version) },
  });
  // Compiled code of the engine before this one.
  for (const name of readdirSync(lib)) if (name.endsWith('.cache')) rmSync(path.join(lib, name));
  const engine = await bundleEngine(root, path.join(lib, 'engine.js'));
  await writeBeginnings(lib);
  for (const name of ['testing', 'client']) writeModule(lib, name);
  writeDeclarations(root, { entries: [TESTING], from: 'package', to: lib });
  rmSync(path.join(lib, 'load-engine.d.ts'), { force: true });
  writeDeclarations(root, { entries: [CLIENT], from: '.', to: path.join(lib, 'types') });
  writeFileSync(
    path.join(lib, 'client.d.ts'),
    `export * from './types/${CLIENT.replace(/\.ts$/u, '.js')}';\n`,
  );
  writeLicenses(
    root,
    [...programs.map(({ metafile }) => metafile), engine],
    path.join(dist, 'THIRD-PARTY-LICENSES.txt'),
  );
  return { engine };
}

/** Writes the ES module of an entry point: the same exports, of the same instance as those of CommonJS. */
function writeModule(lib, name) {
  const names = /0 && \(module\.exports = \{([^}]*)\}/su.exec(
    readFileSync(path.join(lib, `${name}.js`), 'utf8'),
  );
  if (names === null) throw new Error(`the bundle of ${name} names no exports`);
  const list = names[1].trim().replace(/,$/u, '');
  writeFileSync(
    path.join(lib, `${name}.mjs`),
    `import exported from './${name}.js';\nexport const { ${list.replaceAll(/\s+/gu, ' ')} } = exported;\n`,
  );
  writeFileSync(path.join(lib, `${name}.d.mts`), `export * from './${name}.js';\n`);
}

/** Writes the declarations of entry points and of what they import. */
function writeDeclarations(root, { entries, from, to }) {
  const words = ['--declaration', '--emitDeclarationOnly', '--outDir', to, '--rootDir', from, '--noCheck'];
  const settings = [
    '--target',
    'es2023',
    '--module',
    'node20',
    '--types',
    'node',
    '--resolveJsonModule',
    '--ignoreConfig',
  ];
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, ...entries, ...words, ...settings], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the declarations of the package cannot be written');
}

/** Writes the license of every package whose code is in one of the bundles. */
function writeLicenses(root, metafiles, file) {
  const folders = new Set(
    metafiles.flatMap(({ inputs }) =>
      Object.keys(inputs).flatMap((input) => {
        const [, folder] = /^(?:[a-z]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//u.exec(input) ?? [];
        return folder === undefined ? [] : [folder];
      }),
    ),
  );
  const texts = [...folders]
    .sort((a, b) => a.localeCompare(b))
    .map((folder) => {
      const own = path.join(root, folder);
      const { name, version, license } = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8'));
      const found = readdirSync(own).find((each) => /^licen[cs]e/iu.test(each));
      const text = found === undefined ? '' : `\n\n${readFileSync(path.join(own, found), 'utf8').trim()}`;
      return `${name} ${version}, ${license}${text}\n`;
    });
  writeFileSync(
    file,
    `The bundles of orch contain code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`,
  );
}
