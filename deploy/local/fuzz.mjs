/**
 * `npm run fuzz`: compiles the program with what tests need, and runs the fuzzer (apiserver/testing/fuzz/README.md).
 *
 *     --minutes N   the time of all targets together; 5 if not given
 *     --seed N      repeats a run
 *     --target T    one target; may be given more than once
 *     --input FILE  tries one input again
 *     --growth      looks for work that grows faster than the input
 */
import path from 'node:path';
import process from 'node:process';
import { answerHelp, ensureInstalled, fail, requireNode, runPackage, runProgram } from './toolchain.mjs';

const OUTPUT = path.join('dist', 'fuzz');
/** The fuzzer ends by itself after its minutes. */
const TIMEOUT_MS = 24 * 60 * 60_000;

answerHelp(import.meta.url);
requireNode();
await ensureInstalled();
await runPackage('typescript/bin/tsc', ['-p', 'tsconfig.json', '--outDir', OUTPUT, '--noEmit', 'false']);
const program = path.join(OUTPUT, 'apiserver', 'testing', 'fuzz', 'main.js');
const { status, error } = await runProgram(
  process.execPath,
  ['--enable-source-maps', program, ...process.argv.slice(2)],
  { timeoutMs: TIMEOUT_MS },
);
if (error !== undefined) fail(`could not run the fuzzer: ${error.message}`);
process.exitCode = status ?? 1;
