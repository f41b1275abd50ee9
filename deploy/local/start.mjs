/** `npm start`: reads the options, installs and builds what is missing, then runs the compiled launcher in this process. */
import process from 'node:process';
import { readLocalOptions } from './options.mjs';
import { extendPath } from './tool-path.cjs';
import { ensureBuilt, ensureInstalled, fail, requireNode } from './toolchain.mjs';

const options = readLocalOptions('npm start', { dataDir: '.orch', port: '6443', takesNodes: true });
requireNode();
await ensureInstalled();
await ensureBuilt();
extendPath();
const { start } = await import('../../dist/deploy/local/start.js');
start(options).then(
  (exitCode) => process.exit(exitCode),
  (error) => fail(error.message),
);
