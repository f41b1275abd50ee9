/**
 * `npm run docs`: writes the reference of `orch/testing` and `orch/client` to `dist/docs/`, from the docstrings of the declarations that the
 * package has (ADR 90). Fails when an exported name has none.
 */
import path from 'node:path';
import process from 'node:process';
import { ensureTools, TYPEDOC } from './packages.mjs';
import { answerHelp, ensureBuilt, ensureInstalled, fail, repositoryRoot, runStep } from './toolchain.mjs';

answerHelp(import.meta.url);
await ensureInstalled();
await ensureBuilt();
const [missing] = ensureTools([TYPEDOC]);
if (missing !== undefined) fail(`no ${missing}`);
const settings = path.join(repositoryRoot, 'deploy', 'local', 'typedoc.json');
await runStep(process.execPath, [
  path.join(TYPEDOC.folder, TYPEDOC.programs[0]),
  '--options',
  settings,
  '--plugin',
  path.join(TYPEDOC.folder, 'node_modules', 'typedoc-plugin-markdown', 'dist', 'index.js'),
]);
