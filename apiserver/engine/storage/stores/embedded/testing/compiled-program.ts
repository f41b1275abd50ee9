import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = join(__dirname, '../../../../../..');
const SOURCES = [
  'apiserver/engine/storage',
  'shared/concurrency',
  'shared/files',
  'shared/log',
  'shared/meta',
];

const FILES = ['shared/store-identity.ts'];

/** Compiles what the writer process needs to a temporary folder, so that plain node runs it. */
export function compileWriter(): { readonly program: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-writer-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const sources = [
    ...SOURCES.flatMap((each) => sourcesIn(join(ROOT, each))),
    ...FILES.map((each) => join(ROOT, each)),
  ];
  for (const source of sources) {
    const target = join(folder, relative(ROOT, source).replace(/\.ts$/, '.js'));
    const { code } = transformFileSync(source, {
      swcrc: false,
      jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  return {
    program: join(folder, 'apiserver/engine/storage/stores/embedded/testing/writer-process.js'),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
