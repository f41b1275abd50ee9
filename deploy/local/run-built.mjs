/** `node deploy/local/run-built.mjs SOURCE ...`: installs and builds what is missing, then runs the compiled program of a source file. */
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { extendPath } from './tool-path.cjs';
import { answerHelp, ensureBuilt, ensureInstalled, fail, repositoryRoot, requireNode } from './toolchain.mjs';

const [source, ...words] = process.argv.slice(2);
if (source === undefined) fail('name the source file of the program to run');
answerHelp(pathToFileURL(path.join(repositoryRoot, source)));
requireNode();
await ensureInstalled();
await ensureBuilt();
extendPath();
const program = path.join(repositoryRoot, 'dist', source.replace(/\.ts$/u, '.js'));
process.argv.splice(1, Infinity, program, ...words);
await import(pathToFileURL(program));
