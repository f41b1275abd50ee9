/** `npm run fuzz`: compiles the program with what tests need, and runs the fuzzer (apiserver/testing/fuzz/README.md). */
import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { ensureInstalled, repositoryRoot, requireNode, runStep } from './toolchain.mjs';

const OUTPUT = path.join('dist', 'fuzz');

requireNode();
ensureInstalled();
runStep('npx', ['--no-install', 'tsc', '-p', 'tsconfig.json', '--outDir', OUTPUT, '--noEmit', 'false']);
const program = path.join(OUTPUT, 'apiserver', 'testing', 'fuzz', 'main.js');
const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], {
  cwd: repositoryRoot,
  stdio: 'inherit',
});
process.once('SIGINT', () => child.kill('SIGINT'));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
