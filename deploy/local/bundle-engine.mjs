/** Bundles the control plane of `orch/testing` into one file (ADR 80), and lists what is in it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Script } from 'node:vm';

/** Packages that few requests need. They are evaluated on first use. */
const LAZY = new Set([
  'csv-parse/sync',
  'express',
  'htmlparser2',
  'jose/jwks/local',
  'jose/jwt/sign',
  'jose/jws/flattened/verify',
  'js-yaml',
  'pino',
  'pino-pretty',
  'prom-client',
  're2js',
  'ws',
]);
/** Modules of flags that a control plane in memory does not have. Native modules are among what they import. */
const ABSENT = [
  'apiserver/engine/storage/stores/etcd/codec',
  'apiserver/engine/storage/stores/etcd/etcd-backend',
  'apiserver/engine/storage/stores/embedded/embedded-backend',
  'apiserver/engine/storage/decorators/encryption/kms-service',
  'shared/client/redis',
];

/** Calls back with the exports of a package at their first use. Every use but `new.target` and `instanceof` of an unused class works. */
const lazyModule = (name) => `'use strict';
const load = () => require(${JSON.stringify(name)});
const names = new Proxy({}, { get: (_, key) => load()[key] });
module.exports = new Proxy(function () {}, {
  apply: (_, self, words) => Reflect.apply(load(), self, words),
  construct: (_, words) => Reflect.construct(load(), words),
  get: (_, key) => (key === '__esModule' ? false : load()[key]),
  getPrototypeOf: () => names,
  ownKeys: () => ['prototype'],
});`;

const absentModule = (name) => `'use strict';
const refuse = () => { throw new Error(${JSON.stringify(`${name} is no part of a control plane in memory`)}); };
const names = new Proxy({}, { get: () => refuse });
module.exports = Object.create(names);`;

/**
 * Plugin of esbuild: in place of Express its router, which is all that the pages use of it. The rest would be a megabyte of tables for bodies and
 * files.
 */
export const packageModules = {
  name: 'package-modules',
  setup(build) {
    build.onResolve({ filter: /^express$/ }, ({ resolveDir }) => ({
      path: 'express',
      namespace: 'router-alone',
      pluginData: resolveDir,
    }));
    build.onLoad({ filter: /.*/, namespace: 'router-alone' }, ({ pluginData: resolveDir }) => ({
      contents: "exports.Router = require('router');",
      resolveDir,
    }));
  },
};

/**
 * Plugin of esbuild: evaluates packages that few requests need on first use, and parses tables from JSON. `absentFiles` are replaced by modules
 * that throw.
 */
export function lateModules(root, absentFiles = []) {
  const absent = new Set(absentFiles.map((file) => path.join(root, file)));
  return {
    name: 'late-modules',
    setup(build) {
      build.onResolve({ filter: /.*/, namespace: 'lazy' }, async ({ path: name, resolveDir }) =>
        build.resolve(name, { resolveDir, kind: 'require-call', pluginData: 'resolved' }),
      );
      build.onResolve({ filter: /^\./ }, ({ path: name, resolveDir }) => {
        const file = path.join(resolveDir, name);
        return absent.has(file) ? { path: path.relative(root, file), namespace: 'absent' } : undefined;
      });
      build.onResolve({ filter: /^[a-z@]/ }, ({ path: name, resolveDir, importer, pluginData }) =>
        pluginData !== 'resolved' && LAZY.has(name) && !importer.includes('node_modules')
          ? { path: name, namespace: 'lazy', pluginData: resolveDir }
          : undefined,
      );
      // V8 parses JSON faster than it makes the objects of literals.
      build.onLoad({ filter: /\.json$/ }, ({ path: file }) => ({
        contents: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))))});`,
      }));
      build.onLoad({ filter: /.*/, namespace: 'absent' }, ({ path: name }) => ({
        contents: absentModule(name),
      }));
      build.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path: name, pluginData: resolveDir }) => ({
        contents: lazyModule(name),
        resolveDir,
      }));
    },
  };
}

/**
 * Writes `engine.js`: a script whose value is a function of the instance (dialect), `require`, and the folder; it returns the exports of
 * `package/control-plane.ts`. Returns the metadata of esbuild.
 */
export async function bundleEngine(root, outfile) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [path.join(root, 'package', 'control-plane.ts')],
    outfile,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    metafile: true,
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    plugins: [lateModules(root, ABSENT), packageModules],
    banner: {
      js: '(function (ORCH_INSTANCE, require, __dirname) { var module = { exports: {} }, exports = module.exports;',
    },
    footer: { js: 'return module.exports; })' },
    logLevel: 'warning',
  });
  // It is read as Latin-1. What is left after the bundler are characters of regular expressions.
  const ascii = readFileSync(outfile, 'utf8').replaceAll(
    /[^\0-\x7F]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  writeFileSync(outfile, ascii);
  return metafile;
}

/** Writes the objects that every control plane begins with beside the engine, for each dialect. */
export async function writeBeginnings(folder) {
  const make = new Script(readFileSync(path.join(folder, 'engine.js'), 'latin1')).runInThisContext();
  for (const dialect of ['kubernetes', 'orch']) {
    const engine = make({ dialect }, (name) => process.getBuiltinModule(name), folder);
    writeFileSync(path.join(folder, `beginning-${dialect}.json`), await engine.makeBeginning());
  }
}
